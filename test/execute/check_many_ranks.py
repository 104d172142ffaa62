"""Any shape on any number of ranks: more ranks than elements, sizes that do not divide.

usage: check_many_ranks.py DATA WORK
"""

import sys

import numpy as np

from zero_test import Checks, Graph, relative

OPTIMIZERS = {
    "adamw": ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"],
    "sgd": ["--optimizer=sgd", "--lr=0.05", "--momentum=0.9", "--nesterov"],
    "adam": ["--optimizer=adam", "--lr=1e-3", "--betas=0.8,0.99", "--eps=1e-6"],
}


def check_ranks(checks, graph, ranks, optimizer, stages, *flags):
    first = None
    for stage in stages:
        label = f"{graph.name} {optimizer} stage {stage} on {ranks} {' '.join(flags)}".strip()
        result = graph.run(graph.compile(stage, ranks, *OPTIMIZERS[optimizer], *flags), 5)
        first = first or result
        checks.that(result.same_bits(first), f"{label}: bits differ from stage {stages[0]}'s")
        checks.that(all(np.array_equal(result.gradients[k], v)
                        for k, v in first.gradients.items()), f"{label}: gradients differ")
        checks.that(abs(result.losses[0] - graph.truth["loss"]) <= 1e-5,
                    f"{label}: loss {result.losses[0]}")
        for key, value in result.gradients.items():
            error = relative(value, graph.truth["grad." + key])
            checks.that(error <= 1e-4 or key.endswith("attn.c_attn.bias"),
                        f"{label}: gradient of {key} off by {error:.1e}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp = Graph(data, "mlp", f"{work}/mlp")
    for ranks in (5, 7, 16):
        check_ranks(checks, mlp, ranks, "adamw", range(4))
    check_ranks(checks, mlp, 6, "sgd", range(4))
    check_ranks(checks, mlp, 3, "adam", range(4))
    # One bucket per tensor: the last bias has 10 elements for 16 ranks.
    check_ranks(checks, mlp, 16, "sgd", (0, 2, 3), "--bucket-bytes=256")
    gpt2 = Graph(data, "gpt2-tiny", f"{work}/gpt2")
    check_ranks(checks, gpt2, 5, "adamw", (0, 3))
    checks.finish()


if __name__ == "__main__":
    main()
