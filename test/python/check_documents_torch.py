"""Forms in which PyTorch modules keep documents of a row apart, exported to ONNX: each becomes an
attention with segments, and has PyTorch's loss.

usage: check_documents_torch.py WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from zero_test import Checks, run_tool

BATCH, LENGTH, HEADS, WIDTH, VOCABULARY = 2, 32, 2, 16, 50
DOCUMENTS = [12, 20]
CAUSAL = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()


def counted(positions):
    """The mask of [batch, 1, queries, keys] that shows: documents are counted."""
    numbers = (positions == 0).cumsum(-1)
    return (numbers[:, None, :, None] == numbers[:, None, None, :]) & CAUSAL


def booleans(q, k, v, positions):
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=counted(positions))


def numbers(q, k, v, positions):
    """As transformers makes masks."""
    lowest = torch.finfo(torch.float32).min
    mask = torch.zeros(BATCH, 1, LENGTH, LENGTH).masked_fill(~counted(positions), lowest)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def by_hand(q, k, v, positions):
    """Columns where documents begin tell them apart."""
    starts = torch.arange(LENGTH)[None] - positions
    shown = (starts[:, :, None] == starts[:, None, :]) & CAUSAL
    scores = q @ k.transpose(-1, -2) / WIDTH ** 0.5
    return scores.masked_fill(~shown[:, None], -torch.inf).softmax(-1) @ v


class Model(nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.attend = attend
        self.table = nn.Embedding(VOCABULARY, 32)
        self.project = nn.Linear(32, 3 * HEADS * WIDTH)
        self.out = nn.Linear(HEADS * WIDTH, VOCABULARY)

    def forward(self, ids, positions, labels):
        parts = self.project(self.table(ids)).view(BATCH, LENGTH, 3, HEADS, WIDTH)
        heads = self.attend(*parts.permute(2, 0, 3, 1, 4), positions)
        rows = heads.transpose(1, 2).reshape(BATCH, LENGTH, HEADS * WIDTH)
        return functional.cross_entropy(self.out(rows).flatten(0, 1), labels.flatten())


def check_form(checks, attend, folder):
    torch.manual_seed(0)
    model = Model(attend)
    ids, labels = torch.randint(0, VOCABULARY, (2, BATCH, LENGTH))
    positions = torch.cat(list(map(torch.arange, DOCUMENTS))).repeat(BATCH, 1)
    path, names = folder / "model.onnx", ["ids", "positions", "labels"]
    torch.onnx.export(model, (ids, positions, labels), path, input_names=names,
                      output_names=["loss"], dynamo=True, external_data=False, verbose=False)
    np.savez(folder / "batch.npz", **dict(zip(names, (ids, positions, labels))))
    kernels = run_tool("zeroc", path, "--optimizer=sgd", "--plan-only", "--dump-after=kernels")
    checks.that(kernels.count("segments = true") == 2,
                f"{attend.__name__}: expected calls with segments in both directions")
    log = folder / "log.jsonl"
    run_tool("zero-run", path, "--optimizer=sgd", "--steps=1", f"--data={folder / 'batch.npz'}",
             f"--log={log}")
    error = abs(json.loads(log.read_text())["loss"] - model(ids, positions, labels).item())
    checks.that(error < 1e-5, f"{attend.__name__}: the loss is off by {error:.1e}")


def main():
    checks = Checks()
    for attend in (booleans, numbers, by_hand):
        folder = Path(sys.argv[1]) / attend.__name__
        folder.mkdir(parents=True, exist_ok=True)
        check_form(checks, attend, folder)
    checks.finish()


if __name__ == "__main__":
    main()
