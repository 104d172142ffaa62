#!/usr/bin/env python3
"""Ten steps of each optimizer that PyTorch has, by PyTorch in fp64.

usage: optimizers.py BIN     (needs torch, numpy, onnx; see README.md)

`BIN/zeroc --list-optimizers` lists the optimizers, their names in PyTorch, their hyperparameters,
and the flags to run them with. Writes test/data/optimizers/NAME.npz; N is the number of an example:

    N.flags     the example
    N.losses    of ten steps, each before its update
    N.norm.P    the norm of how far parameter P of test/data/mlp moved
    N.move.P    how far elements of it moved, as test/support/optimizer_cases.py picks them
"""

import sys
from pathlib import Path

import numpy as np
import torch
import transformers  # noqa: F401  (models.py needs it)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from models import DATA, Trained, sum_of_losses  # noqa: E402
from optimizer_cases import STEPS, arguments, listed, pick  # noqa: E402


def train(optimizer, example):
    trained = Trained("mlp", "mlp", torch.float64)
    start = {name: p.detach().numpy().copy() for name, p in trained.parameters.items()}
    truth = np.load(DATA / "mlp" / "groundtruth.npz")
    inputs = {"x": torch.from_numpy(truth["input.x"]).double(),
              "labels": torch.from_numpy(truth["input.labels"])}
    rule = getattr(torch.optim, optimizer["torch"])(trained.parameters.values(),
                                                    **arguments(optimizer, example))
    losses = []
    for _ in range(STEPS):
        rule.zero_grad()
        total, count = sum_of_losses(trained.model, inputs)
        loss = total / count
        loss.backward()
        losses.append(loss.item())
        rule.step()
    moves = {name: p.detach().numpy() - start[name] for name, p in trained.parameters.items()}
    return np.array(losses), moves


def main():
    folder = DATA / "optimizers"
    folder.mkdir(exist_ok=True)
    for optimizer in listed(Path(sys.argv[1]) / "zeroc"):
        if not optimizer["torch"]:
            continue
        figures = {}
        for number, example in enumerate(optimizer["examples"]):
            losses, moves = train(optimizer, example)
            figures |= {f"{number}.flags": np.array(example), f"{number}.losses": losses}
            for name, move in moves.items():
                figures[f"{number}.norm.{name}"] = np.linalg.norm(move)
                figures[f"{number}.move.{name}"] = pick(move).astype(np.float32)
            print(f"{optimizer['name']} {example}: loss {losses[0]:.6f} -> {losses[-1]:.6f}")
        np.savez_compressed(folder / f"{optimizer['name']}.npz", **figures)


if __name__ == "__main__":
    main()
