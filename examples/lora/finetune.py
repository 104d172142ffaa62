#!/usr/bin/env python3
"""Fine-tunes a causal language model of transformers on text files with LoRA, within a memory
budget, and writes an adapter for PEFT.

usage: finetune.py TEXT... --base=FOLDER --out=FOLDER [--memory-budget=1GiB] [--ranks=N]
                   [--targets=q_proj,v_proj] [--rank=N] [--sequence=N] [--batch=N] [--steps=N]
                   [--lr=X] [FLAG OF ZEROC...]

The last tenth of the text is held out. If the base has no tokenizer, a byte is a token. Writes
OUT/adapter, and beside it the graph, the tokens, the weights of the run and its log.

Needs PyTorch, onnxscript and transformers; zeroc and zero-run on the PATH.
"""

import argparse
import subprocess
from pathlib import Path

import numpy as np
import torch
import transformers

import zero


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--memory-budget", default="1GiB", help="device memory of each rank")
    parser.add_argument("--targets", default="q_proj,v_proj")
    for name, default in {"ranks": 1, "rank": 8, "sequence": 128, "batch": 4, "steps": 100}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=2e-3)
    return parser.parse_known_args()


def write_tokens(options):
    """Writes the tokens of the training and held-out text; returns both paths."""
    texts = [path.read_bytes() for path in options.texts]
    if (options.base / "tokenizer.json").exists():
        tokenizer = transformers.AutoTokenizer.from_pretrained(options.base)
        tokens = [token for text in texts for token in tokenizer(text.decode())["input_ids"]]
    else:
        tokens = np.frombuffer(b"".join(texts), np.uint8)
    tokens = np.asarray(tokens, np.uint32)
    split = len(tokens) * 9 // 10
    paths = options.out / "train.npy", options.out / "heldout.npy"
    for path, part in zip(paths, (tokens[:split], tokens[split:])):
        np.save(path, part)
    return paths


def export_with_adapter(options):
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_pretrained(options.base)
    model.config.use_cache = False
    zero.lora(model, options.targets.split(","), rank=options.rank, alpha=2 * options.rank,
              task_type="CAUSAL_LM")
    ids = torch.randint(0, model.config.vocab_size, (options.batch, options.sequence))
    return zero.export(model, {"input_ids": ids, "labels": ids}, path=options.out / "model.onnx")


def main():
    options, flags = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    train, heldout = write_tokens(options)
    export = export_with_adapter(options)
    executable, weights = options.out / "lora.zexe", options.out / "trained.safetensors"
    # The base is frozen, in 16 bits, and each rank stores a part of it.
    subprocess.run(["zeroc", export.path, *export.flags(), "--zero-stage=3",
                    f"--ranks={options.ranks}", "--frozen-precision=bf16",
                    f"--memory-budget={options.memory_budget}", "--optimizer=adamw",
                    f"--lr={options.lr}", *flags, "-o", executable], check=True)
    # Both inputs read the same tokens, because transformers shifts the labels itself.
    data, held = (f"input_ids={path},labels={path}" for path in (train, heldout))
    subprocess.run(["zero-run", executable, f"--data={data}", "--shuffle=1",
                    f"--steps={options.steps}", f"--eval-data={held}", "--eval-steps=20",
                    f"--save={weights}", f"--log={options.out / 'log.jsonl'}"], check=True)
    adapter = zero.save_adapter(options.out / "adapter", weights, export)
    print(f"peft.PeftModel.from_pretrained(base, '{adapter}') loads the adapter")


if __name__ == "__main__":
    main()
