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


def check_exchange(checks, graph, ranks):
    """Ranks exchange the elements of AdamW, and two sums for each block of 64."""
    gradients = None
    for stage in (1, 2, 3):
        received = {}
        for optimizer in ("adamw", "lamb"):
            executable = graph.compile(stage, ranks, f"--optimizer={optimizer}", "--bucket-bytes=100000")
            report = graph.run(executable, STEPS).report
            received[optimizer] = [report["per_rank"][0][f"{kind}_elements"]
                                   for kind in ("received", "control")]
        (adamw, before), (lamb, control) = received["adamw"], received["lamb"]
        label = f"{graph.name} at stage {stage} on {ranks}: {received}"
        print(label)
        checks.that(lamb == adamw > 0, f"{label}: other elements than AdamW")
        gradients = gradients or adamw / 2  # stage 1 gathers as many parameters
        checks.that(control - before == gradients / 32, f"{label}: {control - before} sums of blocks")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp = Graph(data, "mlp", f"{work}/mlp")
    lamb = check_stages(checks, mlp, 3, FLAGS)
    adamw = mlp.run(mlp.compile(0, 3, "--optimizer=adamw", *FLAGS[1:]), STEPS)
    for name, weight in adamw.weights.items():
        checks.that(relative(lamb.weights[name], weight) > 1e-3, f"{name} is as AdamW leaves it")
    gpt2 = Graph(data, "gpt2-tiny", f"{work}/gpt2")
    check_exchange(checks, gpt2, 2)
    check_stages(checks, gpt2, 2, [*FLAGS, "--clip-norm=1"])
    check_stages(checks, Graph(data, "llama-tiny", f"{work}/llama"), 4,
                 [*FLAGS, "--no-decay=*norm.weight"])
    checks.finish()


if __name__ == "__main__":
    main()
