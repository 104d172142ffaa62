"""Runs an example with small sizes, and checks what it wrote with PyTorch or JAX alone.

usage: check_examples.py NAME EXAMPLES TEXT WORK
"""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, relative, run_tool


class Example:
    """The script of an example, its results and its functions."""

    def __init__(self, script, out):
        self.script, self.out = script, out
        specification = importlib.util.spec_from_file_location("example", script)
        self.module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(self.module)

    def run(self, *flags):
        """Runs it; returns the numbers that follow some words in its output."""
        output = self.output = run_tool(sys.executable, self.script, *flags, f"--out={self.out}")
        return lambda words: [float(text) for text in re.findall(rf"{words} ([\d.e+-]+)", output)]

    def load(self, model):
        """`model` with the weights that the run saved, in evaluation mode."""
        import torch
        model.load_state_dict(torch.load(self.out / "model.pt"), strict=True)
        return model.eval()


def check_nanogpt(checks, example, text):
    import torch
    sizes = {"layers": 2, "width": 64, "heads": 4, "sequence": 64}
    numbers = example.run(text, *(f"--{name}={value}" for name, value in sizes.items()),
                          "--steps=300", "--lr=5e-3", "--sample=50")
    before, after = numbers("held-out loss")
    model = example.load(example.module.GPT(**sizes))
    _, heldout = example.module.read_text([text], sizes["sequence"])
    rows = len(heldout["tokens"]) // 16 * 16  # whole global batches
    with torch.no_grad():
        loss = model(*(torch.from_numpy(value[:rows].astype(np.int64))
                       for value in heldout.values())).item()
    checks.that(abs(loss - after) < 1e-3, f"held-out loss: PyTorch has {loss}, Zero {after}")
    # The bytes of the text by their frequency alone.
    counts = np.bincount(np.frombuffer(text.read_bytes(), np.uint8))
    shares = counts[counts > 0] / counts.sum()
    entropy = -(shares * np.log(shares)).sum()
    checks.that(after < entropy - 0.3 < before, f"losses {before}, {after}; entropy {entropy}")
    sample = model.sample(b"The ", 50)
    checks.that(len(sample) == 54 and sample.startswith(b"The "), f"sample: {sample}")


def check_bert(checks, example, _):
    import torch
    import transformers
    before, after = example.run("--samples=4096", "--epochs=5")("held-out accuracy")
    checks.that(before < 0.65 and after > 0.95, f"accuracy: {before} before, {after} after")
    model = transformers.BertForSequenceClassification.from_pretrained(example.out / "model")
    heldout = example.module.make_sequences(512, 16, seed=1)
    again = example.module.accuracy(model, heldout)
    checks.that(abs(again - after) < 1e-3, f"the saved model has {again}, not {after}")
    heldout["attention_mask"] = np.ones_like(heldout["attention_mask"])
    unmasked = example.module.accuracy(model, heldout)
    checks.that(unmasked < after - 0.1, f"without the mask {unmasked}, with it {after}")


def check_images(checks, example, model, flags, limit):
    before, after = example.run(f"--model={model}", *flags)("held-out accuracy")
    checks.that(before < 0.5 and after > limit, f"accuracy: {before} before, {after} after")
    module = example.load(getattr(example.module, f"make_{model}")())
    again = example.module.accuracy(module, **example.module.make_images(256, seed=1))
    checks.that(abs(again - after) < 1e-3, f"the saved model has {again}, not {after}")
    return module


def check_resnet(checks, example, _):
    import torch
    module = check_images(checks, example, "resnet",
                          ["--images=512", "--epochs=4", "--lr=1e-3"], limit=0.8)
    images = torch.from_numpy(example.module.make_images(256, seed=0)["images"])
    with torch.no_grad():
        values = module.conv1(images)
    for name, statistic in (("mean", module.bn1.running_mean), ("var", module.bn1.running_var)):
        wanted = getattr(values, name)((0, 2, 3))
        checks.that(relative(statistic.numpy(), wanted.numpy()) < 0.2,
                    f"running {name}: {statistic}, not about {wanted}")


def check_vit(checks, example, _):
    check_images(checks, example, "vit", ["--images=1024", "--epochs=6", "--lr=1e-3"], limit=0.5)


def train_llama(example, text):
    """The losses of three steps of the model of llama-1b with PyTorch."""
    import torch
    options = example.module.parse()
    model = example.module.make_model(options)
    ids = torch.tensor([list(text)]).view(-1, options.sequence)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr, weight_decay=0)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        losses.append(model(input_ids=ids, labels=ids).loss)
        losses[-1].backward()
        optimizer.step()
    return [loss.item() for loss in losses]


def check_llama(checks, example, text):
    """Small sizes, and a text of one global batch, so that their order does not matter."""
    part = example.out / "text"
    part.write_bytes(text.read_bytes()[:4 * 64])
    sizes = {"layers": 2, "width": 64, "inner": 128, "heads": 4, "key-heads": 2, "sequence": 64,
             "vocabulary": 256, "batch": 2}
    flags = [*(f"--{name}={value}" for name, value in sizes.items()), "--ranks=2", "--steps=3",
             "--lr=1e-2", "--memory-budget=1MiB"]
    numbers = example.run(part, *flags)
    losses = numbers(r"step \d: loss")
    sys.argv = ["train.py", *flags]
    expected = train_llama(example, part.read_bytes())
    # The example prints four digits.
    checks.that(len(losses) == 3 and np.abs(np.subtract(losses, expected)).max() < 2e-4,
                f"losses: {losses}, PyTorch {expected}")
    checks.that(expected[2] < expected[0] - 0.1, f"nothing is learned: {expected}")
    # 12 bytes for half of the parameters.
    count = int(re.search(r"([\d,]+) parameters", example.output)[1].replace(",", ""))
    kibibytes = float(re.search(r"nvme: ([\d.]+) KiB", example.output)[1])
    checks.that(kibibytes * 1024 > 6 * count, f"nvme: {kibibytes} KiB for {count} parameters")


def check_jax(checks, example, _):
    import jax
    import jax.numpy as jnp
    example.out = example.out / "weights.npz"
    numbers = example.run("--steps=100", "--batch=32", "--width=32", "--lr=1e-2")
    (difference,), (loss,) = numbers("difference of a loss:"), numbers("->")[:1]
    checks.that(difference < 1e-5, f"losses differ by {difference}")
    params = example.module.initialize(jax.random.key(0), 32)
    zeros = jax.tree.map(jnp.zeros_like, params)
    losses, trained = example.module.train_in_jax(
        example.module.make_step(1e-2), (params, zeros, zeros, jnp.int32(0)),
        example.module.make_batches(100, 32), 32)
    checks.that(abs(losses[-1] - loss) < 1e-3 and loss < 0.5 * losses[0], f"loss {loss}, {losses}")
    weights = np.load(example.out)
    checks.that(weights.keys() == trained.keys(), f"names: {list(weights)}, not {list(trained)}")
    for name, value in trained.items():
        checks.that(relative(weights[name], value) < 1e-4, name)


def main():
    name, (examples, text, work) = sys.argv[1], map(Path, sys.argv[2:])
    folder = {"resnet": "images", "vit": "images", "llama": "llama-1b"}.get(name, name)
    work.mkdir(parents=True)
    checks = Checks()
    globals()[f"check_{name}"](checks, Example(examples / folder / "train.py", work), text)
    checks.finish()


if __name__ == "__main__":
    main()
