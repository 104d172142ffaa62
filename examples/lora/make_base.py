#!/usr/bin/env python3
"""Trains a small Llama from its configuration on text files, all parameters, and saves it as
transformers does. It stands for the model that one would download. A byte is a token.

usage: make_base.py TEXT... --out=FOLDER [--layers=N] [--width=N] [--sequence=N] [--batch=N]
                    [--steps=N] [--lr=X]

Needs PyTorch, onnxscript and transformers; zeroc and zero-run on the PATH.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import torch
import transformers

import zero


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    for name, default in {"layers": 4, "width": 128, "sequence": 128, "batch": 8, "steps": 300,
                          "ranks": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=2e-3)
    return parser.parse_args()


def make_model(layers, width):
    """A Llama with tied embeddings of 256 tokens and heads of 32 elements, two for each key."""
    heads = width // 32
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=256, hidden_size=width, intermediate_size=width * 8 // 3,
        num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=heads // 2,
        tie_word_embeddings=True, use_cache=False, bos_token_id=None, eos_token_id=None))


def main():
    options = parse()
    torch.manual_seed(0)
    model = make_model(options.layers, options.width)
    ids = torch.randint(0, 256, (options.batch, options.sequence))
    with tempfile.TemporaryDirectory() as folder:
        text, weights = Path(folder, "text.bin"), Path(folder, "trained.safetensors")
        text.write_bytes(b"".join(path.read_bytes() for path in options.texts))
        export = zero.export(model, {"input_ids": ids, "labels": ids},
                             path=Path(folder, "model.onnx"))
        subprocess.run(
            ["zero-run", export.path, *export.flags(), f"--ranks={options.ranks}",
             "--zero-stage=3", "--optimizer=adamw", f"--lr={options.lr}", "--warmup-steps=10",
             # transformers shifts the labels itself.
             f"--data=input_ids={text}:uint8,labels={text}:uint8", "--shuffle=1",
             f"--steps={options.steps}", f"--save={weights}"], check=True)
        model.load_state_dict(zero.read_weights(weights, export), strict=True)
    model.save_pretrained(options.out)


if __name__ == "__main__":
    main()
