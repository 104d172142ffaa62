#!/usr/bin/env python3
"""Ten AdamW steps of tiny models by transformers: AutoModelForCausalLM in fp32, eager attention.

usage: huggingface.py     (needs torch, transformers, numpy; see README.md)

Writes test/execute/Inputs/huggingface.json: for each case of test/support/huggingface_cases.py the
losses before and after each step, and the names and shapes of the tensors that save_pretrained
writes.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.numpy import save_file
from transformers import AutoConfig, AutoModelForCausalLM

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "support"))
from huggingface_cases import ADAMW, CASES, STEPS, STORED, data, rounded, weight  # noqa: E402


def shapes_of(folder):
    with safe_open(folder / "model.safetensors", "np") as file:
        return {name: file.get_slice(name).get_shape() for name in sorted(file.keys())}


def load(case, folder):
    """The model of a case, with the weights that its names say, and their shapes."""
    (folder / "config.json").write_text(json.dumps(CASES[case]))
    config = AutoConfig.from_pretrained(folder)
    AutoModelForCausalLM.from_config(config).float().save_pretrained(folder)
    shapes = shapes_of(folder)
    tensors = {name: rounded(weight(name, shape), STORED.get(case)) for name, shape in shapes.items()}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    # What was configured, not what transformers makes of it.
    (folder / "config.json").write_text(json.dumps(CASES[case]))
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager",
                                                 dtype=torch.float32)
    return model.train(), shapes


def train(case):
    with tempfile.TemporaryDirectory() as folder:
        model, shapes = load(case, Path(folder))
    tokens, labels = map(torch.from_numpy, data(case))
    rule = torch.optim.AdamW(model.parameters(), **ADAMW)
    losses = []
    for _ in range(STEPS + 1):
        rule.zero_grad()
        loss = model(input_ids=tokens, labels=labels).loss
        loss.backward()
        losses.append(loss.item())
        rule.step()
    print(f"{case}: {losses[0]:.6f} -> {losses[-1]:.6f}")
    return {"losses": losses, "shapes": shapes}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with open(TESTS / "execute/Inputs/huggingface.json", "w", encoding="utf-8") as file:
        lines = [f"{json.dumps(case)}: {json.dumps(train(case), separators=(',', ':'))}"
                 for case in CASES]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
