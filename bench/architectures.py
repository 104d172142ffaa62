"""Exports architectures at their real sizes, by default and as the guide recommends, trains five
AdamW steps in PyTorch and in Zero, and compares the losses.

usage: architectures.py BUILD WORK [NAME...] [--export=default,guide]

Runs in the environment of bench/setup.sh torch, which must also contain torchvision, transformers
and peft. Weights are random. Dropout and stochastic depth are off, because their random numbers
differ. `default` is torch.onnx.export(model, args, file, dynamo=True), and `guide` has
optimize=False. Prints a row of a Markdown table for each: the largest relative difference of a loss
from PyTorch's, the difference of both from PyTorch in float64, and the seconds of a step in both;
or the first lines of the error.
"""

import argparse
import contextlib
import copy
import io
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

STEPS = 6


class WithLoss:
    """Created after torch is imported: a model and its mean cross-entropy."""

    def __new__(cls, model, output=lambda result: result):
        import torch

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, x, labels):
                scores = output(self.model(x))
                return torch.nn.functional.cross_entropy(scores.reshape(-1, scores.shape[-1]),
                                                         labels.reshape(-1))
        return Module()


def vision(name, batch=2, **options):
    import torch
    import torchvision
    model = getattr(torchvision.models, name)(weights=None, **options)
    for module in model.modules():
        if isinstance(module, torchvision.ops.StochasticDepth):
            module.p = 0.0
    return WithLoss(model), {"x": torch.randn(batch, 3, 224, 224),
                             "labels": torch.randint(0, 1000, (batch,))}


def segmentation(size=128, base=32, classes=8):
    """A U-Net of four levels with batch normalization."""
    import torch
    from torch import nn
    widths = [base * 2**level for level in range(5)]

    def block(ins, outs):
        layers = []
        for channels in (ins, outs):
            layers += [nn.Conv2d(channels, outs, 3, padding=1), nn.BatchNorm2d(outs), nn.ReLU()]
        return nn.Sequential(*layers)

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList(block(*pair) for pair in zip([3, *widths], widths))
            pairs = list(zip(widths[::-1], widths[-2::-1]))
            self.up = nn.ModuleList(nn.ConvTranspose2d(*pair, 2, stride=2) for pair in pairs)
            self.join = nn.ModuleList(block(2 * outs, outs) for _, outs in pairs)
            self.scores = nn.Conv2d(base, classes, 1)

        def forward(self, x):
            passed = []
            for level, down in enumerate(self.down):
                x = down(x if level == 0 else nn.functional.max_pool2d(x, 2))
                passed.append(x)
            for up, join, other in zip(self.up, self.join, passed[-2::-1]):
                x = join(torch.cat([other, up(x)], 1))
            return self.scores(x).permute(0, 2, 3, 1)

    return WithLoss(UNet()), {"x": torch.randn(1, 3, size, size),
                              "labels": torch.randint(0, classes, (1, size, size))}


def speech(batch=2, tokens=64):
    """Whisper-tiny from its configuration, with the same random tokens before each position."""
    import torch
    import transformers as tf
    config = tf.WhisperConfig(d_model=384, encoder_layers=4, decoder_layers=4, use_cache=False,
                              encoder_attention_heads=6, decoder_attention_heads=6,
                              encoder_ffn_dim=1536, decoder_ffn_dim=1536)

    class Speech(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = tf.WhisperForConditionalGeneration(config)
            self.register_buffer("tokens", torch.randint(0, config.vocab_size, (batch, tokens)))

        def forward(self, x):
            return self.model(input_features=x, decoder_input_ids=self.tokens).logits

    return WithLoss(Speech()), {"x": torch.randn(batch, 80, 3000),
                                "labels": torch.randint(0, config.vocab_size, (batch, tokens))}


def language(kind, batch=2, sequence=128):
    import torch
    import transformers as tf
    if kind == "bert":
        config = tf.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                               num_labels=4)
        model, labels = tf.BertForSequenceClassification(config), torch.randint(0, 4, (batch,))
    else:
        config = tf.GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)
        model = tf.GPT2LMHeadModel(config)
        labels = torch.randint(0, config.vocab_size, (batch, sequence))
    return (WithLoss(model, lambda result: result.logits),
            {"x": torch.randint(0, config.vocab_size, (batch, sequence)), "labels": labels})


def adapted(batch=2, sequence=128):
    """SmolLM2-135M from its configuration, with adapters of rank 8 on queries and values."""
    import peft
    import torch
    import transformers as tf
    config = tf.LlamaConfig(hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
                            num_attention_heads=9, num_key_value_heads=3, vocab_size=49152,
                            tie_word_embeddings=True, use_cache=False)
    lora = peft.LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"],
                           init_lora_weights=False)
    tokens = [torch.randint(0, config.vocab_size, (batch, sequence)) for _ in range(2)]
    return (WithLoss(peft.get_peft_model(tf.LlamaForCausalLM(config), lora),
                     lambda result: result.logits), {"x": tokens[0], "labels": tokens[1]})


MODELS = {
    "ResNet-50": lambda: vision("resnet50"),
    "MobileNetV3-L": lambda: vision("mobilenet_v3_large", dropout=0.0),
    "EfficientNet-B0": lambda: vision("efficientnet_b0", dropout=0.0),
    "ConvNeXt-T": lambda: vision("convnext_tiny"),
    "Swin-T": lambda: vision("swin_t"),
    "U-Net": segmentation,
    "Whisper-tiny": speech,
    "BERT-base": lambda: language("bert"),
    "ViT-B/16": lambda: vision("vit_b_16"),
    "GPT-2": lambda: language("gpt2"),
    "SmolLM2 LoRA": adapted,
}


def export(module, inputs, path, optimize):
    import torch
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {} if optimize else {"optimize": False}
        torch.onnx.export(module, tuple(inputs.values()), str(path), dynamo=True, verbose=False,
                          input_names=list(inputs), output_names=["loss"], **options)


def train_in_torch(module, inputs):
    """Losses, and seconds of the median step."""
    import torch
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, weight_decay=0.01)
    losses, seconds = [], []
    for _ in range(STEPS):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = module(*inputs.values())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - start)
    return losses, float(np.median(seconds))


def train_in_double(module, start, inputs):
    """Losses of the same model in float64, which show the effect of rounding on the others."""
    module.load_state_dict(start)
    module.double()
    return train_in_torch(module, {key: value.double() if value.is_floating_point() else value
                                   for key, value in inputs.items()})[0]


def prepare(name, work, kinds):
    """Runs in a separate process: exports, trains in PyTorch, writes the results."""
    import torch
    torch.manual_seed(0)
    torch.set_num_threads(1)
    module, inputs = MODELS[name]()
    module.train()
    for key, value in inputs.items():
        np.save(work / f"{key}.npy", value.numpy())
    for kind in kinds:
        (work / kind).mkdir(exist_ok=True)
        export(module, inputs, work / kind / "model.onnx", kind == "default")
    if not all(parameter.requires_grad for parameter in module.parameters()):
        names = [name for name, parameter in module.named_parameters(remove_duplicate=False)
                 if parameter.requires_grad]
        (work / "trainable.txt").write_text("\n".join(names) + "\n")
    start = copy.deepcopy(module.state_dict())
    losses, seconds = train_in_torch(module, inputs)
    exact = train_in_double(module, start, inputs)
    (work / "torch.json").write_text(json.dumps([losses, seconds, exact]))


def train_in_zero(build, work, kind):
    """Losses, seconds of a step and MiB of a rank, or the first lines of the error."""
    log, report = work / f"{kind}.jsonl", work / f"{kind}.json"
    trainable = work / "trainable.txt"
    inputs = ",".join(f"{key}={work / key}.npy" for key in ("x", "labels"))
    done = subprocess.run(
        [f"{build}/bin/zero-run", work / kind / "model.onnx", f"--data={inputs}",
         *([f"--trainable={trainable}"] if trainable.exists() else []),
         f"--steps={STEPS}", "--optimizer=adamw", "--lr=1e-5", "--weight-decay=0.01", "--quiet",
         f"--log={log}", f"--report-json={report}"], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "warning" not in line]
        return " / ".join(lines[:2])[:300]
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return [row["loss"] for row in rows], json.loads(report.read_text())


def row(name, kind, truth, result):
    losses, seconds, exact = truth
    if isinstance(result, str):
        return f"| {name} | {kind} | {result} | | | |"
    ours, report = result

    def apart(these, those):
        return f"{np.max(np.abs(np.array(these) / np.array(those) - 1)):.1e}"
    return (f"| {name} | {kind} | {apart(ours, losses)} | {apart(ours, exact)}, "
            f"{apart(losses, exact)} | {losses[0]:.4f} to {losses[-1]:.4f} | "
            f"{np.median(report['seconds']):.2f}, {seconds:.2f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("work")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--export", default="default,guide")
    parser.add_argument("--prepare", action="store_true", help="for the script itself")
    args = parser.parse_args()
    kinds = args.export.split(",")
    if args.prepare:
        return prepare(args.names[0], Path(args.work), kinds)
    print("| model | export | largest difference of a loss from PyTorch's | from float64: Zero, "
          "PyTorch | PyTorch's losses | s a step: Zero, PyTorch |\n|---|---|---|---|---|---|")
    for name in args.names or MODELS:
        work = Path(args.work) / name.replace("/", "-")
        work.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, __file__, args.build, str(work), name, "--prepare",
                        f"--export={args.export}"], check=True,
                       env={**os.environ, "OMP_NUM_THREADS": "1"})
        truth = json.loads((work / "torch.json").read_text())
        for kind in kinds:
            print(row(name, kind, truth, train_in_zero(args.build, work, kind)), flush=True)


if __name__ == "__main__":
    main()
