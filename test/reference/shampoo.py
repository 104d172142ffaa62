#!/usr/bin/env python3
"""Twenty steps of Shampoo on matrices and AdamW on the rest: gradients by PyTorch, updates by numpy,
both in fp64, with roots by eigenvalues.

usage: shampoo.py     (needs torch, numpy, onnx; see README.md)

Writes test/execute/Inputs/shampoo.json: losses before each of 21 updates, by model and flags.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from models import DATA, Trained  # noqa: E402
from shampoo_cases import CASES, MODELS, OTHER  # noqa: E402

STEPS = 21
OUTPUT = Path(__file__).resolve().parent.parent / "execute/Inputs/shampoo.json"


def root(statistics, eps):
    """The inverse fourth root, of eigenvalues that are damped relative to the norm."""
    norm = np.linalg.norm(statistics)
    values, vectors = np.linalg.eigh(statistics / norm)
    return (vectors * (values + eps) ** -0.25) @ vectors.T * norm ** -0.25


def shampoo(p, g, state, t, lr, momentum=0.9, beta2=0.99, eps=1e-5, graft="none", decay=0.1):
    for name, square in (("left", g @ g.T), ("right", g.T @ g), ("squares", g * g)):
        state[name] = beta2 * state.get(name, 0) + (1 - beta2) * square
    step = root(state["left"], eps) @ g @ root(state["right"], eps)
    correction = np.sqrt(1 - beta2**t)
    if graft == "none":
        step *= correction
    else:
        wanted = g if graft == "sgd" else g / (np.sqrt(state["squares"]) + 1e-8) * correction
        step *= np.linalg.norm(wanted) / np.linalg.norm(step)
    state["momentum"] = momentum * state.get("momentum", 0) + step
    return p * (1 - lr * decay) - lr * state["momentum"]


def adamw(p, g, state, t):
    state["m"] = 0.9 * state.get("m", 0) + 0.1 * g
    state["v"] = 0.999 * state.get("v", 0) + 0.001 * g * g
    step = state["m"] / (1 - 0.9**t) / (np.sqrt(state["v"] / (1 - 0.999**t)) + 1e-8)
    return p * (1 - OTHER["lr"] * OTHER["decay"]) - OTHER["lr"] * step


def train(kind, graph, arguments):
    trained = Trained(kind, graph, torch.float64)
    truth = np.load(DATA / graph / "groundtruth.npz")
    matrices = set(np.load(DATA / "optim" / f"{graph}.npz")["muon_names"])
    inputs = {k[len("input."):]: truth[k] for k in truth if k.startswith("input.")}
    states, losses = {name: {} for name in trained.parameters}, []
    for t in range(1, STEPS + 1):
        loss = trained.mean_loss(inputs)
        trained.model.zero_grad()
        loss.backward()
        losses.append(loss.item())
        for name, parameter in trained.parameters.items():
            p, g = parameter.detach().numpy(), parameter.grad.numpy()
            rule = shampoo if name in matrices else adamw
            own = arguments if name in matrices else {}
            parameter.data.copy_(torch.from_numpy(rule(p, g, states[name], t, **own)))
    return losses


def main():
    losses = {graph: {flags: train(kind, graph, arguments) for flags, arguments in CASES.items()}
              for graph, kind in MODELS.items()}
    for graph, cases in losses.items():
        for flags, own in cases.items():
            print(f"{graph} {flags}: loss {own[0]:.6f} -> {own[-1]:.6f}")
    OUTPUT.write_text(json.dumps(losses, indent=1) + "\n")


if __name__ == "__main__":
    main()
