#!/usr/bin/env python3
"""300 steps of torch.optim.Muon on the byte-level GPT-2 of test/data/gpt-bytes, beside the losses of
a run of Zero. docs/guides/muon.md has the figures and the command of that run.

usage: muon_curve.py LOG [original|match_rms_adamw]     (needs torch and transformers; see README.md)

LOG is what zero-run --log wrote.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from byte_gpt import BATCH, FOLDER, SIZE, make_model
from models import sum_of_losses

STEPS, SMOOTHED = 300, 50
RATES = {"original": 0.02, "match_rms_adamw": 1e-3}


def train(scale):
    model, length = make_model(), SIZE["sequence"]
    matrices = {n: p for n, p in model.named_parameters() if p.dim() == 2 and ".h." in n}
    rest = [p for n, p in model.named_parameters() if n not in matrices]
    optimizers = [torch.optim.Muon(matrices.values(), lr=RATES[scale], weight_decay=0.1,
                                   adjust_lr_fn=scale),
                  torch.optim.AdamW(rest, lr=1e-3, weight_decay=0.01)]
    text = np.fromfile(FOLDER / "text.txt", np.uint8).astype(np.int64)
    rows = text[:len(text) // length * length].reshape(-1, length)
    losses = []
    for step in range(STEPS):
        tokens = torch.from_numpy(rows[(step * BATCH + np.arange(BATCH)) % len(rows)])
        total, valid = sum_of_losses(model, {"input_ids": tokens, "labels": tokens})
        loss = total / valid
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def smooth(losses):
    return np.convolve(losses, np.full(SMOOTHED, 1 / SMOOTHED), "valid")


def main():
    scale = sys.argv[2] if len(sys.argv) > 2 else "original"
    lines = Path(sys.argv[1]).read_text().splitlines()
    got = np.array([json.loads(line)["loss"] for line in lines])
    if len(got) != STEPS:
        sys.exit(f"{sys.argv[1]}: expected {STEPS} steps, got {len(got)}")
    torch.set_num_threads(1)
    expected = train(scale)
    off = np.abs(smooth(got) / smooth(expected) - 1).max()
    print(f"{scale}: smoothed loss {smooth(got)[-1]:.4f} at last, PyTorch {smooth(expected)[-1]:.4f}; "
          f"at most {100 * off:.2f} % off")


if __name__ == "__main__":
    main()
