"""Trains modules whose semantics ONNX cannot express, as PyTorch exported them, and compares with
PyTorch's results; see test/reference/exports.py.

usage: check_exports.py DATA WORK CASE...

Limits: the first loss 1e-5, gradients 1e-4, the losses of five AdamW updates 1e-4, buffers after
one step 1e-5. Runs stage 0 on one rank and stage 3 on two.
"""

import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Graph, relative

ADAMW = ["--optimizer=adamw", "--lr=1e-2", "--betas=0.9,0.999", "--eps=1e-8",
         "--weight-decay=0.01"]


def expected(graph, prefix):
    """The figures of the ground truth whose names begin with `prefix`."""
    return {key[len(prefix):]: value for key, value in graph.truth.items()
            if key.startswith(prefix)}


def check_gradients(checks, label, graph, result):
    gradients = expected(graph, "grad.")
    # The gradient of a bias before a batch normalization is zero except for rounding noise.
    floor = 0.1 * max(np.linalg.norm(value) for value in gradients.values())
    for name, gradient in gradients.items():
        error = np.linalg.norm(result.gradients[name] - gradient)
        checks.that(error <= 1e-4 * max(np.linalg.norm(gradient), floor),
                    f"{label}: gradient of {name} off by {error:.2e}")


def check_case(checks, data, work, name):
    graph = Graph(data, f"exports/{name}", Path(work) / name)
    truth = graph.truth["adamw_losses"]
    for stage, ranks in ((0, 1), (3, 2)):
        label = f"{name}, stage {stage} on {ranks}"
        # All ranks have the same batch, so the mean of their losses is that of one.
        executable = graph.compile(stage, ranks, "--loss-mean=local", *ADAMW)
        result = graph.run(executable, len(truth))
        checks.that(abs(result.losses[0] - truth[0]) <= 1e-5 * abs(truth[0]),
                    f"{label}: loss {result.losses[0]:.7f}, expected {truth[0]:.7f}")
        error = np.max(np.abs(result.losses - truth) / np.abs(truth))
        checks.that(error <= 1e-4, f"{label}: losses off by {error:.1e}: {result.losses}, "
                                   f"expected {truth}")
        check_gradients(checks, label, graph, result)
        buffers = expected(graph, "buffer_after1.")
        saved = graph.run(executable, 1).weights if buffers else {}
        for key, value in buffers.items():
            checks.that(key in saved and relative(saved[key], value) <= 1e-5,
                        f"{label}: buffer {key} after a step: {saved.get(key)}, expected {value}")


def main():
    checks = Checks()
    for name in sys.argv[3:]:
        check_case(checks, sys.argv[1], sys.argv[2], name)
    checks.finish()


if __name__ == "__main__":
    main()
