"""zero.export: names, values and training of its graphs against PyTorch, and what it reports.

usage: check_export.py WORK

Each module is exported, trained two steps by zero-run, and loaded back with strict=True.
"""

import contextlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
import transformers
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

import zero
from check_trees import check_raises
from zero import onnx_export
from zero_test import Checks, run_tool

WORK = Path(sys.argv[1])
TORCH = tuple(int(part) for part in torch.__version__.split(".")[:2])
LR, TOLERANCE = 0.1, 1e-5


class Tied(nn.Module):
    """A tied table, running statistics, a moving average, a frozen and an unused parameter, and
    buffers that are saved, not saved, and integers."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.table = nn.Embedding(16, 8)
        self.norm = nn.BatchNorm1d(8)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(8, 16)
        self.head.weight = self.table.weight
        self.scale = nn.Parameter(torch.full((8,), 0.5), requires_grad=False)
        self.unused = nn.Parameter(torch.ones(3))
        self.register_buffer("places", torch.arange(5))
        self.register_buffer("average", torch.zeros(8))
        self.register_buffer("monitor", torch.ones(()))
        self.register_buffer("mask", torch.tril(torch.ones(5, 5, dtype=torch.bool)),
                             persistent=False)

    def forward(self, tokens):
        x = self.table(tokens) + self.table(self.places)
        x = self.norm(x.transpose(1, 2)).transpose(1, 2) * self.scale
        self.average = 0.9 * self.average + 0.1 * x.detach().mean((0, 1))
        self.monitor.mul_(0.5)
        x = x - self.average
        heads = x[:, None]
        x = x + functional.scaled_dot_product_attention(heads, heads, heads, self.mask)[:, 0]
        return self.head(self.dropout(x))


def make_tied(dropout=0.0):
    return Tied(dropout), torch.randint(0, 16, (4, 5)), torch.randint(0, 16, (4, 5))


def make_cnn():
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3),
        nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    return module, torch.randn(4, 3, 8, 8), torch.randint(0, 5, (4,))


def transformer(kind, dropout=0.0):
    """A model of two layers and its inputs, with labels. The head of GPT-2 and Llama is tied."""
    small = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
             "num_attention_heads": 4}
    ids = torch.randint(0, 64, (4, 12))
    if kind == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=64, n_positions=16, n_embd=32, n_layer=2, n_head=2, resid_pdrop=dropout,
            embd_pdrop=dropout, attn_pdrop=dropout, bos_token_id=0, eos_token_id=0)
        return transformers.GPT2LMHeadModel(config), {"input_ids": ids, "labels": ids}
    if kind == "llama":
        config = transformers.LlamaConfig(num_key_value_heads=2, tie_word_embeddings=True, **small)
        return transformers.LlamaForCausalLM(config), {"input_ids": ids, "labels": ids}
    mask = torch.ones_like(ids)
    mask[1, 8:] = 0
    config = transformers.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                                     max_position_embeddings=32, num_labels=3, **small)
    return transformers.BertForSequenceClassification(config), {
        "input_ids": ids, "attention_mask": mask, "labels": torch.randint(0, 3, (4,))}


def make_vit():
    config = transformers.ViTConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        image_size=32, patch_size=8, num_labels=5)
    return transformers.ViTForImageClassification(config), {
        "pixel_values": torch.randn(4, 3, 32, 32), "labels": torch.randint(0, 5, (4,))}


def zero_trains(export, data):
    """The losses of two steps of SGD, and the path of the saved weights."""
    weights, log = Path(export).with_suffix(".safetensors"), WORK / "log.jsonl"
    np.savez(WORK / "data.npz", **{name: value.numpy() for name, value in data.items()})
    run_tool("zero-run", export.path, *export.flags(), f"--data={WORK / 'data.npz'}", "--steps=2",
             "--optimizer=sgd", f"--lr={LR}", f"--save={weights}", f"--log={log}", "--quiet")
    return [json.loads(line)["loss"] for line in log.read_text().splitlines()], weights


def torch_trains(module, compute):
    """The losses of two steps of SGD, which change the module."""
    optimizer = torch.optim.SGD([value for value in module.parameters() if value.requires_grad],
                                lr=LR)
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = compute()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def check_trained(checks, label, module, batch, compute, *, data=None, notes=(), **options):
    """Exports, trains in both, and compares losses and the state_dict. `compute` is the loss of the
    module; `data` has the names of the inputs if `batch` does not."""
    before = {name: value.clone() for name, value in module.state_dict().items()}
    export = zero.export(module, batch, path=WORK / f"{label}.onnx", **options)
    after = module.state_dict()
    checks.that(all(torch.equal(value, after[name]) for name, value in before.items()),
                f"{label}: the module was changed")
    checks.that(export.notes == notes, f"{label}: notes: {export.notes}")
    losses, weights = zero_trains(export, data or batch)
    expected = torch_trains(module.train(), compute)
    checks.that(np.allclose(losses, expected, rtol=TOLERANCE), f"{label}: {losses}, {expected}")
    checks.that(abs(expected[1] - expected[0]) > 10 * TOLERANCE, f"{label}: nothing was trained")
    loaded = zero.read_weights(weights, export)
    trained = module.state_dict()
    checks.that(list(loaded) == list(trained), f"{label}: {list(loaded)}")
    for name, value in trained.items():
        if name.endswith(("num_batches_tracked", "monitor")):
            value = before[name]  # The loss does not depend on it.
        # The gradient of a bias of keys is only rounding, and so is the bias.
        error = np.linalg.norm(loaded[name] - value)
        least = 1e-3 * value.numel()**0.5
        checks.that(error < TOLERANCE * max(np.linalg.norm(value), least),
                    f"{label}: {name} is {error} from PyTorch's")
    module.load_state_dict(loaded, strict=True)
    return export


def check_modules(checks):
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    x, labels = torch.randn(6, 8), torch.randint(0, 4, (6,))
    check_trained(checks, "mlp", module, (x, labels),
                  lambda: functional.cross_entropy(module(x), labels), loss="cross_entropy",
                  data={"input": x, "labels": labels})
    cnn, images, kinds = make_cnn()
    check_trained(checks, "cnn", cnn.eval(), {"input": images, "kinds": kinds},
                  lambda: functional.cross_entropy(cnn(images), kinds), loss="cross_entropy")
    for kind in ("gpt2", "llama", "bert"):
        model, batch = transformer(kind)
        check_trained(checks, kind, model, batch, lambda: model(**batch).loss)
    vit, batch = make_vit()
    check_trained(checks, "vit", vit, batch, lambda: vit(**batch).loss, loss=lambda outputs, batch:
                  functional.cross_entropy(outputs.logits, batch["labels"]))


def check_tied(checks):
    module, tokens, labels = make_tied()
    data = {"tokens": tokens, "labels": labels}
    export = check_trained(
        checks, "tied", module, (tokens, labels), lambda: functional.cross_entropy(
            module(tokens).flatten(0, 1), labels.flatten()), loss="cross_entropy", data=data,
        notes=("forward updates 'monitor', which the loss does not depend on: Zero does not update "
               "it",))
    tensors = export.state.tensors
    checks.that(tensors["table.weight"]["initializer"] == tensors["head.weight"]["initializer"] and
                {name for name, entry in tensors.items() if entry["initializer"] is None} ==
                {"unused", "monitor", "norm.num_batches_tracked"}, f"places: {tensors}")
    checks.that(export.trainable.read_text().split() == sorted(
        {"norm.weight", "norm.bias", "head.bias", tensors["head.weight"]["initializer"]}),
        f"trainable: {export.trainable.read_text()}")
    checks.that(export.state.unsaved == ["mask"] and module.average.abs().sum() > 0, "buffers")


def check_dynamic(checks):
    """A graph of a symbolic batch trains batches of another size, and larger ones than memory."""
    model, batch = transformer("llama")
    export = zero.export(model, batch, path=WORK / "dynamic.onnx", dynamic_batch=True)
    checks.that(export.flags() == ["--shape=input_ids=4x12,labels=4x12"] and
                export.flags(2) == ["--shape=input_ids=2x12,labels=2x12"], f"{export.flags()}")
    ids = torch.randint(0, 64, (6, 12))
    weights, log = WORK / "dynamic.safetensors", WORK / "log.jsonl"
    np.savez(WORK / "data.npz", input_ids=ids, labels=ids)
    run_tool("zero-run", export.path, *export.flags(3), "--ranks=2", "--zero-stage=3", "--lr=0.1",
             f"--data={WORK / 'data.npz'}", "--steps=2", "--optimizer=sgd", f"--log={log}",
             f"--save={weights}", "--quiet")
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    expected = torch_trains(model.train(), lambda: model(input_ids=ids, labels=ids).loss)
    checks.that(np.allclose(losses, expected, rtol=TOLERANCE), f"dynamic: {losses}, {expected}")
    model.load_state_dict(zero.read_weights(weights, export), strict=True)


def check_external(checks):
    """Large graphs have their tensors in a second file."""
    model, batch = transformer("gpt2")
    most, onnx_export.MOST_EMBEDDED_BYTES = onnx_export.MOST_EMBEDDED_BYTES, 1000
    try:
        check_trained(checks, "external", model, batch, lambda: model(**batch).loss)
    finally:
        onnx_export.MOST_EMBEDDED_BYTES = most
    checks.that((WORK / "external.onnx.data").stat().st_size > 100000, "external data")


def check_stored(checks):
    """Values that stay in a folder: in fp32 and, for which the comparison converts them, bf16; the
    files are referred to, not copied, and train like the module."""
    for dtype in (torch.float32, torch.bfloat16):
        module, batch = transformer("llama")
        folder = WORK / f"stored-{dtype}".replace("torch.", "")
        shutil.rmtree(folder, ignore_errors=True)
        module.to(dtype).save_pretrained(folder, max_shard_size="20KB")
        with zero.without_weights():
            empty = transformers.LlamaForCausalLM(module.config).to(dtype)
        path = folder / "model.onnx"
        export = zero.export(empty, batch, path=path, weights=folder)
        checks.that(all(value.is_meta for value in empty.parameters()), f"{dtype}: module changed")
        checks.that(not export.notes, f"{dtype}: {export.notes}")
        graph = onnx.load(path, load_external_data=False).graph
        trained = [value for value in graph.initializer if export.state.tensors.get(value.name)]
        checks.that(trained and all(value.external_data[0].value.endswith(".safetensors")
                                    for value in trained if "inv_freq" not in value.name),
                    f"{dtype}: tensors are copied")
        plain = zero.export(module, batch, path=WORK / "plain.onnx")
        (losses, ours), (expected, theirs) = (zero_trains(each, batch) for each in (export, plain))
        ours, theirs = zero.read_weights(ours, export), zero.read_weights(theirs, plain)
        checks.that(losses == expected and all(torch.equal(ours[name], value)
                                               for name, value in theirs.items()),
                    f"{dtype}: other results of training")
        checks.that(not [each for each in folder.iterdir() if each.is_dir()], f"{dtype}: files left")
    x = torch.ones(2, 4)
    with zero.without_weights():
        linear = nn.Linear(4, 3)
    (WORK / "other").mkdir(exist_ok=True)
    save_file({"weight": torch.ones(3, 4)}, WORK / "other" / "part.safetensors")
    save_file({"weight": torch.ones(4, 3)}, WORK / "wrong.safetensors")
    for label, words, options in (
            ("no weights", ["'weight' is on the meta device", "give weights="], {}),
            ("lacks one", ["'bias' is on the meta device", "lack it"],
             {"weights": WORK / "other", "path": WORK / "other" / "x.onnx"}),
            ("elsewhere", ["is not in", "the folder of path="],
             {"weights": WORK / "other", "path": WORK / "tied" / "x.onnx"}),
            ("shape", ["the module has the shape (3, 4)", "(4, 3)"],
             {"weights": WORK / "wrong.safetensors"}),
            ("no files", ["expected .safetensors files"], {"weights": WORK / "tied"})):
        (WORK / "tied").mkdir(exist_ok=True)
        check_raises(checks, label, words, zero.export, linear, (x, x[:, :3]),
                     **{"path": WORK / "x.onnx", "loss": "mse_loss", **options})


def check_dropout(checks):
    """With dropout, the loss is compared without it. Other random numbers prevent that."""
    model, batch = transformer("gpt2", dropout=0.1)
    export = zero.export(model, batch, path=WORK / "dropout.onnx", loss="causal_lm")
    checks.that("has dropout" in export.notes[0], f"dropout: {export.notes}")
    losses, _ = zero_trains(export, batch)
    model.eval()
    checks.that(abs(losses[0] - model(**batch).loss.item()) > 1e-4, "dropout is off in training")
    module, tokens, labels = make_tied(0.5)
    export = zero.export(module, (tokens, labels), path=WORK / "drop.onnx", loss="cross_entropy")
    checks.that("has dropout" in export.notes[1], f"dropout and statistics: {export.notes}")
    noise = nn.Sequential(nn.Linear(4, 4))
    export = zero.export(noise, torch.randn(3, 4), path=WORK / "noise.onnx",
                         loss=lambda y, x: (y * torch.rand_like(y)).sum())
    checks.that("not compared" in export.notes[0] and "RandomUniformLike" in export.notes[0],
                f"noise: {export.notes}")


def check_half(checks):
    """Zero trains 16-bit parameters in fp32: the loss is compared with the module's in fp32."""
    model, batch = transformer("llama")
    export = zero.export(model.bfloat16(), batch, path=WORK / "half.onnx")
    checks.that(not export.notes and next(model.parameters()).dtype == torch.bfloat16, "half")
    _, weights = zero_trains(export, batch)
    model.load_state_dict(zero.read_weights(weights, export), strict=True)


def check_losses(checks):
    """Losses by name, scores of images, and gradients that PyTorch stores sparse."""
    x, numbers = torch.randn(3, 4), torch.rand(3, 3)
    cases = {name: (nn.Linear(4, 3), (x, numbers)) for name in
             ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
              "binary_cross_entropy_with_logits")}
    cases["nll_loss"] = (nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(-1)),
                         (x, torch.randint(0, 3, (3,))))
    cases["cross_entropy"] = (nn.Conv2d(3, 5, 1),
                              (torch.randn(3, 3, 4, 4), torch.randint(0, 5, (3, 4, 4))))
    for name, (module, batch) in cases.items():
        export = zero.export(module, batch, loss=name, path=WORK / "loss.onnx")
        checks.that(not export.notes, f"{name}: {export.notes}")
    tokens = nn.Sequential(nn.Embedding(9, 4, sparse=True), nn.Linear(4, 3))
    export = zero.export(tokens, (torch.randint(0, 9, (3, 5)), torch.randint(0, 3, (3, 5))),
                         loss="cross_entropy", path=WORK / "loss.onnx")
    checks.that(not export.notes, f"sparse: {export.notes}")


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return 3 * gradient


class Lossy(nn.Module):
    """Gradients that leave no trace in an ONNX graph."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.first, self.second = kind, nn.Linear(4, 4), nn.Linear(4, 4)
        if kind == "hook":
            self.first.weight.register_hook(lambda gradient: 2 * gradient)

    def forward(self, x):
        with torch.no_grad() if self.kind == "no_grad" else contextlib.nullcontext():
            h = self.first(x)
        return self.second(Tripled.apply(h) if self.kind == "function" else h)


def check_differences(checks):
    pair = (torch.randn(3, 4), torch.randn(3, 4))
    check_raises(checks, "hook", ["'first.weight' has a hook"], zero.export, Lossy("hook"), pair,
                 loss="mse_loss", path=WORK / "lossy.onnx")
    for kind in ("no_grad", "function"):
        check_raises(checks, kind, ["differs from the module", "the gradient of 'first.weight'"],
                     zero.export, Lossy(kind), pair, loss="mse_loss", path=WORK / "lossy.onnx")
    zero.export(Lossy("plain"), pair, loss="mse_loss", path=WORK / "lossy.onnx")
    # The loss of the graph is another one than that of the module.
    calls = iter([1.0, 2.0, 2.0, 2.0])
    check_raises(checks, "loss", ["the loss: expected", "got"], zero.export, Lossy("plain"), pair,
                 loss=lambda outputs, batch: outputs.square().mean() * next(calls),
                 path=WORK / "loss.onnx")
    # What the exporter does by default.
    exporter = torch.onnx.export
    torch.onnx.export = lambda *args, **options: exporter(*args, **{**options, "optimize": True})
    try:
        # PyTorch 2.15 folds the statistics that are updated before their names are known.
        words = (["forward updates the buffer '1.running_", "its new value is not in the graph"]
                 if TORCH >= (2, 15) else
                 ["differs from the module:", "'0.weight': the values differ",
                  "'1.weight': the loss depends on it, but the graph lacks"])
        check_raises(checks, "folded", words, zero.export, make_cnn()[0], make_cnn()[1:],
                     loss="cross_entropy", path=WORK / "folded.onnx")
    finally:
        torch.onnx.export = exporter


def check_errors(checks):
    linear, x = nn.Linear(4, 3), torch.ones(2, 4)
    def refused(label, words, *arguments, **options):
        check_raises(checks, label, words, zero.export, *arguments,
                     **{"path": WORK / "x.onnx", **options})
    refused("path", ["ends with .onnx"], linear, x, path=WORK / "x.mlir")
    refused("no loss", ["got a tensor of shape (2, 3)", "give loss="], linear, x)
    refused("name", ["one of cross_entropy", "got 'cosine'"], linear, x, loss="cosine")
    refused("no target", ["last, the target, got 1 inputs"], linear, x, loss="mse_loss")
    refused("no name", ["expected one input that is called labels"], linear,
            {"input": x, "a": x, "b": x}, loss="mse_loss")
    refused("two dimensions", ["second or the last dimension"], linear,
            (torch.ones(2, 3, 4), torch.ones(2, 3, dtype=torch.int64)), loss="cross_entropy")
    refused("frozen", ["nothing to train"], nn.Linear(4, 3).requires_grad_(False), x)
    refused("missing", ["example", "missing a required argument"], nn.Bilinear(4, 4, 3),
            {"input1": x}, loss=lambda outputs, batch: outputs.sum())
    refused("value", ["expected a tensor for 'labels', got int"], linear, (x, 3), loss="mse_loss")
    refused("one sample", ["at least 2 samples"], linear, (x[:1], x[:1, :3]), loss="mse_loss",
            dynamic_batch=True)
    refused("fixed batch", ["only takes batches of 2 samples"],
            nn.Sequential(linear, nn.Unflatten(0, (1, 2))), (x, x[:, :3]),
            loss=lambda outputs, batch: outputs.sum(), dynamic_batch=True)
    shared = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    shared[1].weight = nn.Parameter(shared[0].weight.data)
    refused("shared", ["'0.weight' and '1.weight' share memory"], shared, (x, x), loss="mse_loss")
    hooked = nn.Linear(4, 3)
    hooked.register_forward_hook(lambda *arguments: None)
    refused("hook", ["no hooks"], hooked, x)


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    checks = Checks()
    for check in (check_modules, check_tied, check_dynamic, check_external, check_stored, check_dropout,
                  check_half, check_losses, check_differences, check_errors):
        check(checks)
    checks.finish()


if __name__ == "__main__":
    main()
