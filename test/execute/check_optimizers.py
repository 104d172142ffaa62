"""Optimizers against numpy in fp64, on the gradients of the mlp by hand.

usage: check_optimizers.py DATA WORK
"""

import sys

import numpy as np

from zero_test import Checks, Graph, relative

STEPS = 6
NAMES = ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "fc3.weight", "fc3.bias"]


def loss_and_gradients(p, x, labels):
    w1, b1, w2, b2, w3, b3 = (p[name] for name in NAMES)
    h1 = np.maximum(x @ w1.T + b1, 0)
    h2 = np.maximum(h1 @ w2.T + b2, 0)
    logits = h2 @ w3.T + b3
    logits -= logits.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(logits).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    d3 = np.exp(logits - log_sum)
    d3[rows, labels] -= 1
    d3 /= len(labels)
    d2 = (d3 @ w3) * (h2 > 0)
    d1 = (d2 @ w2) * (h1 > 0)
    gradients = [d1.T @ x, d1.sum(0), d2.T @ h1, d2.sum(0), d3.T @ h2, d3.sum(0)]
    return -(logits - log_sum)[rows, labels].mean(), dict(zip(NAMES, gradients))


def adam(p, g, state, t, lr, b1=0.9, b2=0.999, eps=1e-8, decay=0.0, decoupled=False):
    """PyTorch's Adam and AdamW: eps after the bias correction."""
    if decoupled:
        p = p * (1 - lr * decay)
    else:
        g = g + decay * p
    m = b1 * state.get("m", 0) + (1 - b1) * g
    v = b2 * state.get("v", 0) + (1 - b2) * g * g
    state.update(m=m, v=v)
    return p - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)


def sgd(p, g, state, t, lr, momentum=0.0, dampening=0.0, nesterov=False, decay=0.0):
    g = g + decay * p
    if momentum:
        state["m"] = g if t == 1 else momentum * state["m"] + (1 - dampening) * g
        g = g + momentum * state["m"] if nesterov else state["m"]
    return p - lr * g


# Flags of zeroc, and the same for numpy.
CASES = [
    ("--optimizer=sgd --lr=0.1", lambda *a: sgd(*a, 0.1)),
    ("--optimizer=sgd --lr=0.1 --weight-decay=0.02", lambda *a: sgd(*a, 0.1, decay=0.02)),
    ("--optimizer=sgd --lr=0.05 --momentum=0.8", lambda *a: sgd(*a, 0.05, 0.8)),
    ("--optimizer=sgd --lr=0.05 --momentum=0.8 --dampening=0.3 --weight-decay=0.02",
     lambda *a: sgd(*a, 0.05, 0.8, 0.3, decay=0.02)),
    ("--optimizer=sgd --lr=0.05 --momentum=0.8 --nesterov",
     lambda *a: sgd(*a, 0.05, 0.8, nesterov=True)),
    ("--optimizer=adam --lr=2e-3 --betas=0.8,0.98 --eps=1e-4",
     lambda *a: adam(*a, 2e-3, 0.8, 0.98, 1e-4)),
    ("--optimizer=adam --lr=1e-3 --eps=1e-4 --weight-decay=0.1",
     lambda *a: adam(*a, 1e-3, eps=1e-4, decay=0.1)),
    ("--optimizer=adamw --lr=1e-3 --eps=1e-4 --weight-decay=0.1",
     lambda *a: adam(*a, 1e-3, eps=1e-4, decay=0.1, decoupled=True)),
]


def train(start, x, labels, update):
    p, states, losses = dict(start), {name: {} for name in NAMES}, []
    for step in range(1, STEPS + 1):
        loss, gradients = loss_and_gradients(p, x, labels)
        losses.append(loss)
        p = {name: update(p[name], gradients[name], states[name], step) for name in NAMES}
    return np.array(losses), p


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp", work)
    executable = graph.compile(0, 1, "--optimizer=sgd")
    start = {k: v.astype(np.float64) for k, v in graph.run(executable, 1, "--lr=0").weights.items()}
    x, labels = graph.inputs["x"].astype(np.float64), graph.inputs["labels"]
    for index, (flags, update) in enumerate(CASES):
        losses, weights = train(start, x, labels, update)
        stage, ranks = (index % 4, 1 + index % 3)
        label = f"{flags} at stage {stage} on {ranks}"
        result = graph.run(graph.compile(stage, ranks, *flags.split()), STEPS)
        error = np.abs(result.losses - losses).max()
        checks.that(error <= 1e-5, f"{label}: losses off by {error:.1e}: {result.losses} {losses}")
        for name in NAMES:
            error = relative(result.weights[name] - start[name], weights[name] - start[name])
            checks.that(error <= 1e-3, f"{label}: {name} moved otherwise by {error:.1e}")
    checks.finish()


if __name__ == "__main__":
    main()
