"""Compares optimizers with numpy in fp64, on gradients of the mlp that the test computes.

usage: check_optimizers.py DATA WORK
"""

import sys
from fnmatch import fnmatch

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


def lamb(p, g, state, t, lr, b1=0.9, b2=0.999, eps=1e-8, decay=0.0):
    """Algorithm 2 of arXiv 1904.00962; phi is the identity."""
    m = b1 * state.get("m", 0) + (1 - b1) * g
    v = b2 * state.get("v", 0) + (1 - b2) * g * g
    state.update(m=m, v=v)
    direction = (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps) + decay * p
    lengths = np.linalg.norm(p), np.linalg.norm(direction)
    return p - lr * (lengths[0] / lengths[1] if min(lengths) > 0 else 1) * direction


def lion(p, g, state, t, lr, b1=0.9, b2=0.99, decay=0.0):
    """Program 1 of arXiv 2302.06675."""
    m = state.get("m", 0)
    state["m"] = b2 * m + (1 - b2) * g
    return p - lr * (np.sign(b1 * m + (1 - b1) * g) + decay * p)


def factor(kind, steps, warmup=0, total=0, least=0.0):
    """The learning rate of the step after `steps` updates, as a fraction of --lr."""
    if steps < warmup:
        return steps / warmup
    if kind == "inverse-sqrt":
        return np.sqrt(warmup / steps)
    if kind == "constant":
        return 1.0
    part = min((steps - warmup) / (total - warmup), 1.0)
    height = 1 - part if kind == "linear" else (1 + np.cos(np.pi * part)) / 2
    return least + (1 - least) * height


# Flags of zeroc, the rule, and the rule's arguments for numpy.
CASES = [
    ("--optimizer=sgd --lr=0.1", sgd, dict(lr=0.1)),
    ("--optimizer=sgd --lr=0.1 --weight-decay=0.02", sgd, dict(lr=0.1, decay=0.02)),
    ("--optimizer=sgd --lr=0.05 --momentum=0.8", sgd, dict(lr=0.05, momentum=0.8)),
    ("--optimizer=sgd --lr=0.05 --momentum=0.8 --dampening=0.3 --weight-decay=0.02",
     sgd, dict(lr=0.05, momentum=0.8, dampening=0.3, decay=0.02)),
    ("--optimizer=sgd --lr=0.05 --momentum=0.8 --nesterov",
     sgd, dict(lr=0.05, momentum=0.8, nesterov=True)),
    ("--optimizer=adam --lr=2e-3 --betas=0.8,0.98 --eps=1e-4",
     adam, dict(lr=2e-3, b1=0.8, b2=0.98, eps=1e-4)),
    ("--optimizer=adam --lr=1e-3 --eps=1e-4 --weight-decay=0.1",
     adam, dict(lr=1e-3, eps=1e-4, decay=0.1)),
    ("--optimizer=adamw --lr=1e-3 --eps=1e-4 --weight-decay=0.1",
     adam, dict(lr=1e-3, eps=1e-4, decay=0.1, decoupled=True)),
]

# The same at stages 0 and 3 on two ranks. The sign of a gradient next to zero may differ, so a few
# elements of Lion's weights may differ, too.
BOTH_STAGES = [
    ("--optimizer=lamb --lr=1e-2 --eps=1e-4", lamb, dict(lr=1e-2, eps=1e-4)),
    ("--optimizer=lamb --lr=1e-2 --betas=0.8,0.98 --eps=1e-4 --weight-decay=0.1",
     lamb, dict(lr=1e-2, b1=0.8, b2=0.98, eps=1e-4, decay=0.1)),
    ("--optimizer=lion --lr=1e-4", lion, dict(lr=1e-4, tolerance=2e-2)),
    ("--optimizer=lion --lr=1e-4 --betas=0.8,0.95 --weight-decay=0.5",
     lion, dict(lr=1e-4, b1=0.8, b2=0.95, decay=0.5, tolerance=2e-2)),
    ("--optimizer=sgd --lr=0.1 --warmup-steps=3", sgd,
     dict(lr=0.1, schedule=("constant", dict(warmup=3)))),
    ("--optimizer=sgd --lr=0.1 --lr-schedule=linear --warmup-steps=2 --total-steps=5", sgd,
     dict(lr=0.1, schedule=("linear", dict(warmup=2, total=5)))),
    ("--optimizer=adamw --lr=1e-3 --eps=1e-4 --weight-decay=0.1 --lr-schedule=cosine "
     "--warmup-steps=1 --total-steps=4 --min-lr-ratio=0.25", adam,
     dict(lr=1e-3, eps=1e-4, decay=0.1, decoupled=True,
          schedule=("cosine", dict(warmup=1, total=4, least=0.25)))),
    ("--optimizer=sgd --lr=0.1 --momentum=0.8 --lr-schedule=inverse-sqrt --warmup-steps=2", sgd,
     dict(lr=0.1, momentum=0.8, schedule=("inverse-sqrt", dict(warmup=2)))),
    ("--optimizer=adamw --lr=1e-3 --eps=1e-4 --weight-decay=0.3 --no-decay=*.bias", adam,
     dict(lr=1e-3, eps=1e-4, decay=0.3, decoupled=True, groups=[("*.bias", dict(decay=0.0))])),
    ("--optimizer=sgd --lr=0.1 --weight-decay=0.02 "
     "--param-group=fc1.*:weight-decay=0.2:lr-scale=0.5,fc?.weight:lr-scale=0.25", sgd,
     dict(lr=0.1, decay=0.02, groups=[("fc1.*", dict(decay=0.2, scale=0.5)),
                                      ("fc?.weight", dict(scale=0.25))])),
    ("--optimizer=lamb --lr=1e-2 --eps=1e-4 --weight-decay=0.1 --no-decay=*.bias "
     "--lr-schedule=linear --total-steps=20", lamb,
     dict(lr=1e-2, eps=1e-4, decay=0.1, groups=[("*.bias", dict(decay=0.0))],
          schedule=("linear", dict(total=20)))),
]


def settings_of(name, steps, lr, schedule=("constant", {}), groups=(), **settings):
    """The rule's arguments for one parameter in one step. The first group that matches applies."""
    own = next((dict(own) for pattern, own in groups if fnmatch(name, pattern)), {})
    lr *= own.pop("scale", 1.0) * factor(schedule[0], steps, **schedule[1])
    return {**settings, **own, "lr": lr}


def train(start, x, labels, rule, arguments):
    p, states, losses = dict(start), {name: {} for name in NAMES}, []
    for step in range(STEPS):
        loss, gradients = loss_and_gradients(p, x, labels)
        losses.append(loss)
        p = {name: rule(p[name], gradients[name], states[name], step + 1,
                        **settings_of(name, step, **arguments)) for name in NAMES}
    return np.array(losses), p


class Comparison:
    """Runs of the mlp, each with the same steps in numpy."""

    def __init__(self, checks, data, work):
        self.checks = checks
        self.graph = Graph(data, "mlp", work)
        still = self.graph.run(self.graph.compile(0, 1, "--optimizer=sgd"), 1, "--lr=0")
        self.start = {k: v.astype(np.float64) for k, v in still.weights.items()}
        self.x = self.graph.inputs["x"].astype(np.float64)
        self.labels = self.graph.inputs["labels"]

    def check(self, flags, rule, arguments, stage, ranks):
        arguments = dict(arguments)
        tolerance = arguments.pop("tolerance", 1e-3)
        losses, weights = train(self.start, self.x, self.labels, rule, arguments)
        label = f"{flags} at stage {stage} on {ranks}"
        result = self.graph.run(self.graph.compile(stage, ranks, *flags.split()), STEPS)
        error = np.abs(result.losses - losses).max()
        self.checks.that(error <= 1e-5,
                         f"{label}: losses off by {error:.1e}: {result.losses} {losses}")
        for name in NAMES:
            error = relative(result.weights[name] - self.start[name],
                             weights[name] - self.start[name])
            self.checks.that(error <= tolerance, f"{label}: {name} moved otherwise by {error:.1e}")
        return result


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    comparison = Comparison(checks, data, work)
    for index, case in enumerate(CASES):
        comparison.check(*case, index % 4, 1 + index % 3)
    for case in BOTH_STAGES:
        whole, cut = (comparison.check(*case, stage, 2) for stage in (0, 3))
        checks.that(whole.same_bits(cut), f"{case[0]}: stages 0 and 3 differ in their bits")
    checks.finish()


if __name__ == "__main__":
    main()
