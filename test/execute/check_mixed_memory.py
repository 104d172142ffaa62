"""Model state in 16 bits takes 2P + 2P + 12P bytes and is divided as ZeRO says. With several
micro-batches, gradients are accumulated in fp32.

usage: check_mixed_memory.py DATA WORK
"""

import sys

from check_memory import PLACE, check_measured, human
from zero_test import Checks, Graph, Plan

RANKS = 4
ADAMW = ["--optimizer=adamw", "--lr=1e-3"]
# Bytes of optimizer state per element, the fp32 master first, and the number of additional scalars:
# powers of Adam's betas, the loss scale with its two counters.
STATES = (("bf16", ADAMW, 4 + 4 + 4, 2),
          ("bf16", ["--optimizer=lamb"], 4 + 4 + 4, 2),
          ("bf16", ["--optimizer=lion"], 4 + 4, 0),
          ("bf16", ["--optimizer=sgd", "--momentum=0.9"], 4 + 4, 0),
          ("bf16", ["--optimizer=sgd"], 4, 0),
          ("fp16", ADAMW, 4 + 4 + 4, 5),
          ("fp16", [*ADAMW, "--loss-scale=128"], 4 + 4 + 4, 3),
          ("fp16", ["--optimizer=sgd"], 4, 3))


def places(buckets, bytes, cut):
    """Bytes of one buffer per bucket, each in a separate place."""
    parts = [size * bytes // (RANKS if cut else 1) for size in buckets]
    return sum(-(-part // PLACE) * PLACE for part in parts)


def layers(plan):
    """The buckets of each layer, whose gradients are computed next to each other."""
    found = {}
    for name, bucket in plan.bucket_of.items():
        words = name.split(".")
        number = next((word for word in words if word.isdigit()), words[-2])
        found.setdefault(number, set()).add(bucket)
    return [[plan.buckets[bucket] for bucket in buckets] for buckets in found.values()]


def gradient_bytes(plan, stage, micro_batches):
    """One micro-batch takes 2P. Several take 4P of sums, the means of loss and labels, and the
    gradients that are not accumulated yet. These are the buckets of one layer. If each micro-batch
    reduces into slices, they are one slice, because a bucket is accumulated as soon as it is
    reduced; before, it counts as a value of the step."""
    if micro_batches == 1:
        return places(plan.buckets, 2, stage >= 2)
    sums = places(plan.buckets, 4, stage >= 2) + 2 * PLACE
    in_flight = [[size] for size in plan.buckets] if stage >= 2 else layers(plan)
    # A tied table's gradient is accumulated in its bucket from the loss to the embedding.
    if stage < 2 and not any("embed" in name for name in plan.bucket_of):
        tied = plan.buckets[plan.bucket_of["model.lm_head.weight"]]
        in_flight = [[*others, tied] for others in in_flight if tied not in others]
    return sums + max(places(buckets, 2, stage >= 2) for buckets in in_flight)


def check_state(checks, graph, stage, micro_batches, state, flags=()):
    precision, optimizer, state_bytes, scalars = state
    flags = [f"--precision={precision}", f"--micro-batches={micro_batches}", *optimizer, *flags]
    label = f"{graph.name} stage {stage} {' '.join(flags)}"
    plan = Plan(graph, stage, RANKS, *flags)
    expected = {
        "parameters": places(plan.buckets, 2, stage >= 3),
        "gradients": gradient_bytes(plan, stage, micro_batches),
        "optimizer state": places(plan.buckets, state_bytes, stage >= 1) + scalars * PLACE}
    for role, bytes in expected.items():
        checks.that(plan.certificate[role] == bytes,
                    f"{label}: {role} take {plan.certificate[role]}, expected {bytes}")
    return plan, flags


def check_paper(checks, graph, plan, stage, micro_batches):
    """The numbers printed as the paper's arithmetic equal those computed here, without padding."""
    elements = sum(v.size for k, v in graph.truth.items() if k.startswith("grad."))
    padding = 64 * (len(plan.bucket_of) + RANKS * len(plan.buckets))
    checks.that(elements <= sum(plan.buckets) < elements + padding,
                f"{graph.name}: buckets of {sum(plan.buckets)} for {elements} elements")
    cut = [1 / RANKS if stage >= first else 1 for first in (3, 2, 1)]
    paper = sum(b * elements * c for b, c in zip((2, 2, 12), cut))
    here = sum(b * elements * c for b, c in zip((2, 2 if micro_batches == 1 else 4, 12), cut))
    checks.that(plan.arithmetic == (human(here), human(paper)),
                f"{graph.name} stage {stage}: arithmetic {plan.arithmetic}, "
                f"expected {human(here)}, {human(paper)}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    for name in ("gpt2-tiny", "llama-tiny"):
        graph = Graph(data, name, f"{work}/{name}")
        for stage in range(4):
            for micro_batches in (1, 4):
                plan, flags = check_state(checks, graph, stage, micro_batches, STATES[0])
                check_paper(checks, graph, plan, stage, micro_batches)
                if stage in (1, 3) and name == "gpt2-tiny":
                    check_measured(checks, graph, plan.certificate, stage, RANKS, flags)
            # Masters make the optimizer's part the largest; the norm needs none of it.
            check_state(checks, graph, stage, 1, STATES[0], ["--clip-norm=1"])
    mlp = Graph(data, "mlp", f"{work}/mlp")
    for stage in range(4):
        for state in STATES:
            check_state(checks, mlp, stage, 1, state)
    checks.finish()


if __name__ == "__main__":
    main()
