#!/usr/bin/env python3
"""Trains all parameters of a Llama of 1.1 billion within 3 GiB of device memory, with parameters,
gradients and optimizer state on a disk and on the host.

usage: train.py [TEXT...] [--out=FOLDER] [--layers=N] [--width=N] [--inner=N] [--heads=N]
                [--key-heads=N] [--vocabulary=N] [--sequence=N] [--batch=N] [--steps=N] [--lr=X]
                [--ranks=N] [--memory-budget=3GiB] [--parameters-on=nvme] [--gradients-on=nvme]
                [--optimizer-on=nvme] [--activations-on=host]

The sizes are those of TinyLlama, unless others are given; the weights are random. A byte is a
token. Without a TEXT, the model learns the documentation of the repository. OUT has the graph and
its weights, 4 bytes for each parameter, and while the training runs the files of the nvme tier, up
to 16 bytes for each. The export itself needs host memory for the weights in PyTorch.

Needs PyTorch, onnxscript and transformers.
"""

import argparse
import gc
from pathlib import Path

import numpy as np
import torch
import transformers

import zero

DOCS = Path(__file__).resolve().parents[2] / "docs"
TIERS = {"parameters": "nvme", "gradients": "nvme", "optimizer": "nvme", "activations": "host"}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("texts", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, default=Path("llama-1b"))
    for name, default in {"layers": 22, "width": 2048, "inner": 5632, "heads": 32, "key-heads": 4,
                          "vocabulary": 32000, "sequence": 256, "batch": 1, "steps": 4,
                          "ranks": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--memory-budget", default="3GiB", help="device memory of each rank")
    for state, tier in TIERS.items():
        parser.add_argument(f"--{state}-on", default=tier, help="device, host or nvme")
    return parser.parse_args()


def make_model(options):
    """A Llama with random weights, which follow from a seed."""
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=options.vocabulary, hidden_size=options.width, intermediate_size=options.inner,
        num_hidden_layers=options.layers, num_attention_heads=options.heads,
        num_key_value_heads=options.key_heads, max_position_embeddings=options.sequence,
        use_cache=False))


def export_model(options):
    """Writes the graph."""
    model = make_model(options)
    print(f"{model.num_parameters():,} parameters", flush=True)
    ids = torch.randint(0, options.vocabulary, (options.batch, options.sequence))
    # The comparison would train a step without other tiers, in the memory that is too small.
    return zero.export(model, {"input_ids": ids, "labels": ids}, check=False,
                       path=options.out / "model.onnx")


def read_tokens(options):
    """Bytes as tokens: (samples, sequence)."""
    text = b"".join(path.read_bytes() for path in options.texts or sorted(DOCS.rglob("*.md")))
    count = len(text) // options.sequence
    return np.frombuffer(text, np.uint8, count * options.sequence).reshape(count, options.sequence)


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    export = export_model(options)
    gc.collect()  # the exporter leaves cycles of references, which have the model
    program = zero.compile(
        export, stage=3, ranks=options.ranks, optimizer="adamw", lr=options.lr,
        memory_budget=options.memory_budget, offload_params=options.parameters_on,
        offload_gradients=options.gradients_on, offload_optimizer=options.optimizer_on,
        offload_activations=options.activations_on)
    print(program)
    print(program.certificate, flush=True)
    tokens = read_tokens(options)
    with program.session(nvme_dir=options.out) as session:
        # Both inputs read the same tokens, because transformers shifts the labels itself.
        session.train({"input_ids": tokens, "labels": tokens}, steps=options.steps, shuffle=1,
                      progress=False, callbacks=[lambda session, result: print(
                          f"step {result.step}: loss {result.loss:.4f}, {result.seconds:.1f} s",
                          flush=True)])


if __name__ == "__main__":
    main()
