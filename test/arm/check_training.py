"""Training on 64-bit ARM, compared with this machine and with PyTorch.

usage: check_training.py DATA WORK MODEL ZERO_RUN...

ZERO_RUN: the command that runs the emulated runtime.
"""

import re
import sys

import numpy as np

from zero_test import Checks, Graph

ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
STEPS = 2


def check_memory(checks, label, graph, result):
    planned = int(re.search(r"^ *arena +(\d+)", graph.report, re.MULTILINE)[1])
    peak = result.report["memory"]["device"]["peak"]
    checks.that(peak == planned, f"{label}: {peak} bytes, planned {planned}")


def main():
    data, work, model, *command = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, model, work)
    here = graph.run(graph.compile(0, 2, *ADAMW), STEPS, has_gradients=False)
    graph.runner = command
    there = {}
    for stage in (0, 3):
        executable = graph.compile(stage, 2, "--target-cpu=aarch64", *ADAMW)
        there[stage] = graph.run(executable, STEPS, "--check-memory", has_gradients=False)
        check_memory(checks, f"{model}, stage {stage}", graph, there[stage])
    expected = {"x86-64": here.losses, "PyTorch": graph.truth["adamw_losses"][:STEPS]}
    for name, losses in expected.items():
        checks.that(np.allclose(there[0].losses, losses, rtol=1e-5, atol=0),
                    f"{model}: {there[0].losses}, {name} {losses}")
    checks.that(there[0].same_bits(there[3]), f"{model}: stages 0 and 3 differ")
    checks.finish()


if __name__ == "__main__":
    main()
