"""The loss in tiles of rows equals that in one piece and is bitwise identical at every stage.

usage: check_tiled_logits.py DATA WORK
"""

import sys

import numpy as np

from zero_test import Checks, Graph, relative

OPTIMIZER = ["--optimizer=adamw", "--lr=1e-3"]
# Bytes of logits per tile, and flags: full tiles, a smaller last tile, 16 bits.
CASES = (("gpt2-tiny", 16384, []), ("llama-tiny", 50000, []),
         ("gpt2-tiny", 6000, ["--precision=bf16"]),
         ("llama-tiny", 30000, ["--micro-batches=2", "--clip-norm=1"]))


def distance(a, b):
    return relative(*(np.concatenate([t[name].astype(np.float64).ravel() for name in sorted(b)])
                      for t in (a, b)))


def compare(checks, data, work, index, name, limit, flags):
    graph = Graph(data, name, f"{work}/{index}")
    ranks = 1 if "--micro-batches=2" in flags else 2
    flags = OPTIMIZER + flags

    def train(stage, limit):
        executable = graph.compile(stage, ranks, f"--logits-bytes={limit}", *flags)
        return graph.report, graph.run(executable, 3)

    report, whole = train(1, 10**9)
    label = f"{name} {' '.join(flags[2:])} in {limit} bytes"
    checks.that(" tiles of " not in report, f"{label}: one piece is called tiles")
    tolerance = 2e-2 if "--precision=bf16" in flags else 1e-5
    first = None
    for stage in range(4):
        report, tiled = train(stage, limit)
        checks.that(" tiles of " in report, f"{label}, stage {stage}: not tiled")
        checks.that(np.allclose(tiled.losses, whole.losses, rtol=tolerance / 10),
                    f"{label}: losses {tiled.losses}, in one piece {whole.losses}")
        off = distance(tiled.gradients, whole.gradients)
        checks.that(off < tolerance, f"{label}: gradients differ by {off}")
        first = first or tiled
        same = all(np.array_equal(tiled.weights[k], first.weights[k]) for k in first.weights)
        checks.that(same and np.array_equal(tiled.losses, first.losses),
                    f"{label}: stage {stage} differs from stage 0")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    for index, case in enumerate(CASES):
        compare(checks, data, work, index, *case)
    checks.finish()


if __name__ == "__main__":
    main()
