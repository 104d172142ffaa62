#!/usr/bin/env python3
"""Losses of gpt2-mini with the weights that scripts/test-data.py draws: ten updates by AdamW as the
other ground truths have them.

usage: gpt2_mini.py     (needs torch, transformers, numpy, onnx; see README.md)

Writes test/data/gpt2-mini/groundtruth.npz. The losses are computed in fp32; in fp64 they must be
the same but for rounding.
"""

import numpy as np
import torch
from models import DATA, Trained

FILE = DATA / "gpt2-mini" / "groundtruth.npz"
STEPS = 10


def losses(inputs, dtype):
    trained = Trained("gpt2", "gpt2-mini", dtype, width=256, layers=4, heads=8, vocabulary=8192,
                      sequence=128)
    optimizer = torch.optim.AdamW(trained.parameters.values(), lr=1e-3, weight_decay=0.01)
    for _ in range(STEPS):
        loss = trained.mean_loss(inputs)
        yield loss.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    yield trained.mean_loss(inputs).item()


def main():
    bits = np.random.RandomState(1)._bit_generator.random_raw(4 * 128)
    tokens = (bits % 8192).astype(np.int64).reshape(4, 128)
    inputs = {"input_ids": tokens, "labels": tokens}
    found, exact = (np.array(list(losses(inputs, t))) for t in (torch.float32, torch.float64))
    off = np.abs(found / exact - 1)
    print("losses", found, "off by", off)
    assert off.max() < 1e-5
    np.savez_compressed(FILE, loss=np.float32(found[0]), adamw_losses=found,
                        **{f"input.{name}": value for name, value in inputs.items()})


if __name__ == "__main__":
    main()
