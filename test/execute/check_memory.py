"""Model state is divided as ZeRO says, and a run uses the planned memory.

usage: check_memory.py DATA WORK
"""

import sys

from zero_test import Checks, Graph, Plan

ALIGNMENT = 64  # elements: alignment of tensors and slices
PLACE = 256  # bytes: alignment of values in the arena
SCALARS = 2 * PLACE  # the powers of Adam's betas, each in a separate place


def state_bytes(elements, stage, ranks, moments):
    """Bytes of parameters, gradients and optimizer state in fp32 according to the paper."""
    cut = [stage >= 3, stage >= 2, stage >= 1]
    whole = [4 * elements, 4 * elements, 4 * elements * moments]
    return [bytes / ranks if is_cut else bytes for bytes, is_cut in zip(whole, cut)]


def human(bytes):
    for unit in ("B", "KiB", "MiB"):
        if bytes < 1024 or unit == "MiB":
            return f"{bytes:.2f} {unit}" if unit != "B" else f"{bytes:.0f} B"
        bytes /= 1024


def check_state(checks, graph, sizes, stage, ranks, moments, flags):
    label = f"{graph.name} stage {stage} on {ranks} with {moments} moments"
    plan = Plan(graph, stage, ranks, *flags)
    elements = sum(sizes)
    padding = ALIGNMENT * (len(sizes) + ranks * len(plan.buckets))
    checks.that(elements <= sum(plan.buckets) < elements + padding,
                f"{label}: buckets of {sum(plan.buckets)} for {elements} elements")
    for bucket in plan.buckets:
        checks.that(bucket % (ALIGNMENT * ranks) == 0, f"{label}: a bucket of {bucket}")
    exact = state_bytes(elements, stage, ranks, moments)
    padded = state_bytes(sum(plan.buckets), stage, ranks, moments)
    padded[2] += SCALARS if moments == 2 else 0
    for role, low, high in zip(("parameters", "gradients", "optimizer state"), exact, padded):
        got = plan.certificate[role]
        checks.that(low <= got == high, f"{label}: {role} take {got}, expected {high} ({low})")
    paper = {0: 16, 1: 4 + 12 / ranks, 2: 2 + 14 / ranks, 3: 16 / ranks}[stage] * elements
    checks.that(plan.arithmetic == (human(sum(exact)), human(paper)),
                f"{label}: arithmetic {plan.arithmetic}, expected {human(sum(exact))}, "
                f"{human(paper)}")
    return plan.certificate


def check_measured(checks, graph, certificate, stage, ranks, flags):
    """Compares the certificate with the arenas of a run and with the bytes it wrote."""
    label = f"{graph.name} stage {stage} on {ranks}"
    executable = graph.compile(stage, ranks, *flags)
    plain = graph.run(executable, 3)
    guarded = graph.run(executable, 3, "--check-memory")
    checks.that(guarded.same_bits(plain), f"{label}: --check-memory changed the numbers")
    checks.that(plain.report["memory"]["device"]["peak"] == certificate["arena"],
                f"{label}: the executable's certificate is another")
    most = plain.report["memory"]["device"]["most"]
    checks.that(all(most[role] == certificate[role] for role in
                    ("parameters", "gradients", "optimizer state", "activations", "working")),
                f"{label}: roles take {most}, planned {certificate}")
    for rank, stats in enumerate(guarded.report["per_rank"]):
        checks.that(stats["arena_bytes"] == certificate["arena"],
                    f"{label}: rank {rank} reserves {stats['arena_bytes']}")
        checks.that(stats["measured_peak"] == certificate["arena"],
                    f"{label}: rank {rank} reached {stats['measured_peak']}, "
                    f"planned {certificate['arena']}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    for name in ("mlp", "gpt2-tiny"):
        graph = Graph(data, name, f"{work}/{name}")
        sizes = [v.size for k, v in graph.truth.items() if k.startswith("grad.")]
        for stage in range(4):
            for ranks in (2, 3):
                for moments, flags in ((2, ["--optimizer=adamw"]),
                                       (1, ["--optimizer=sgd", "--momentum=0.9"])):
                    certificate = check_state(checks, graph, sizes, stage, ranks, moments, flags)
                    if ranks == 3 and (moments == 2 or name == "mlp"):
                        check_measured(checks, graph, certificate, stage, ranks, flags)
    checks.finish()


if __name__ == "__main__":
    main()
