"""LAMB's trust ratios are computed over full tensors, also if these are sharded: all stages are
bitwise identical for every bucket size.

usage: check_lamb.py DATA WORK
"""

import sys

from zero_test import Checks, Graph, relative

STEPS = 4
FLAGS = ["--optimizer=lamb", "--lr=1e-2", "--weight-decay=0.01"]
# Buckets of one tensor each, of several tensors, and one bucket for all tensors.
BUCKETS = (64, 100_000, 25_000_000)


def check_stages(checks, graph, ranks, flags):
    """Compares all stages and bucket sizes with the first, which is not sharded."""
    first = None
    for stage in range(4):
        for size in BUCKETS if stage in (0, 3) else BUCKETS[1:2]:
            label = f"{graph.name} at stage {stage} on {ranks}, buckets of {size} bytes"
            executable = graph.compile(stage, ranks, *flags, f"--bucket-bytes={size}")
            result = graph.run(executable, STEPS)
            first = first or result
            checks.that(result.same_bits(first), f"{label}: other bits than without shards")
            checks.that(result.losses[-1] < result.losses[0], f"{label}: {result.losses}")
    return first


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp = Graph(data, "mlp", f"{work}/mlp")
    lamb = check_stages(checks, mlp, 3, FLAGS)
    adamw = mlp.run(mlp.compile(0, 3, "--optimizer=adamw", *FLAGS[1:]), STEPS)
    for name, weight in adamw.weights.items():
        checks.that(relative(lamb.weights[name], weight) > 1e-3, f"{name} is as AdamW leaves it")
    check_stages(checks, Graph(data, "gpt2-tiny", f"{work}/gpt2"), 2, [*FLAGS, "--clip-norm=1"])
    check_stages(checks, Graph(data, "llama-tiny", f"{work}/llama"), 4,
                 [*FLAGS, "--no-decay=*norm.weight"])
    checks.finish()


if __name__ == "__main__":
    main()
