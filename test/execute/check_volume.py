"""Elements received per rank and step, compared with a count from the graph alone.

usage: check_volume.py DATA WORK
"""

import sys

import onnx

from zero_test import Checks, Graph, Plan

# Operand indices whose values backward never reads: tables and addends.
VALUE_UNREAD = {"Gather": [0], "Add": [0, 1], "Gemm": [2], "LayerNormalization": [2]}
VIEWS = ("Transpose", "Reshape")


def uses_of(graph, name):
    """(node, operand index) of each use of a value, through views of it."""
    uses = []
    for node in graph.node:
        for index, operand in enumerate(node.input):
            if operand == name and node.op_type in VIEWS:
                uses += uses_of(graph, node.output[0])
            elif operand == name:
                uses.append((node, index))
    return uses


def depends_on(graph, names):
    """The values computed from any of `names`."""
    values = set(names)
    for node in graph.node:
        if values.intersection(node.input):
            values.update(node.output)
    return values


def gathers(graph, parameter, trained):
    """How often stage 3 fetches a parameter: once per use in forward, and in backward if the
    gradient of another operand reads its value."""
    dependent = depends_on(graph, trained)
    count = 0
    for node, index in uses_of(graph, parameter):
        others = [operand for i, operand in enumerate(node.input[:2]) if i != index]
        reads = (index not in VALUE_UNREAD.get(node.op_type, []) and
                 any(other in dependent for other in others))
        count += 2 if reads else 1
    return count


def check_run(checks, label, graph, executable, ranks, elements, bytes=None):
    """Each rank receives (N-1)/N of the planned elements in every step. Elements are fp32 unless
    `bytes` says otherwise."""
    steps = 3
    report = graph.run(executable, steps).report
    expected = elements * (ranks - 1) // ranks
    bytes = (4 * elements if bytes is None else bytes) * (ranks - 1) // ranks
    checks.that(report["planned_elements_per_step"] == expected,
                f"{label}: planned {report['planned_elements_per_step']}, expected {expected}")
    for rank, stats in enumerate(report["per_rank"]):
        checks.that(stats["received_elements"] == steps * expected,
                    f"{label}: rank {rank} received {stats['received_elements']} in {steps} "
                    f"steps, expected {expected} each")
        checks.that(stats["received_bytes"] == steps * bytes,
                    f"{label}: rank {rank} received {stats['received_bytes']} bytes in {steps} "
                    f"steps, expected {bytes} each")
    return report


def gathered(checks, label, graph, plan):
    """The elements that stage 3 gathers in forward and backward, and how many of these exceed two
    gathers per parameter: a tied table is fetched for each use."""
    model = onnx.load(graph.folder / "model.onnx", load_external_data=False).graph
    sizes = {k[len("grad."):]: v.size for k, v in graph.truth.items() if k.startswith("grad.")}
    checks.that(plan.bucket_of.keys() == sizes.keys(), f"{label}: parameters")
    counts = {name: gathers(model, name, sizes) for name in sizes}
    of_bucket = [{counts[n] for n, b in plan.bucket_of.items() if b == bucket}
                 for bucket in range(len(plan.buckets))]
    checks.that(all(len(c) == 1 for c in of_bucket), f"{label}: mixed buckets {of_bucket}")
    sized = [(size, max(c)) for size, c in zip(plan.buckets, of_bucket)]
    return sum(size * c for size, c in sized), sum(size * max(c - 2, 0) for size, c in sized)


def check_graph(checks, graph, ranks, stages):
    sizes = [v.size for k, v in graph.truth.items() if k.startswith("grad.")]
    for stage in stages:
        label = f"{graph.name} stage {stage} on {ranks}"
        flags = ["--optimizer=adamw", "--recompute=none"]
        plan = Plan(graph, stage, ranks, *flags)
        padded = sum(plan.buckets)
        fetched = gathered(checks, label, graph, plan)[0] if stage == 3 else padded
        print(f"{label}: {(padded + fetched) / sum(sizes):.3f} P, padding included")
        check_run(checks, label, graph, graph.compile(stage, ranks, *flags), ranks,
                  padded + fetched)


def check_micro_batches(checks, graph, ranks, stage, micro_batches, precision, each):
    """Stages 0 and 1 reduce once, in fp32, unless each micro-batch is requested. Stage 2 reduces
    the gradients of each micro-batch, and stage 3 also gathers for each."""
    flags = ["--optimizer=adamw", "--recompute=none", f"--micro-batches={micro_batches}",
             f"--precision={precision}"]
    flags += ["--grad-reduce=each"] if each else []
    label = f"{graph.name} stage {stage} on {ranks} {' '.join(flags)}"
    plan = Plan(graph, stage, ranks, *flags)
    padded, width = sum(plan.buckets), 4 if precision == "fp32" else 2
    reduces = each or stage >= 2
    reduced, reduced_width = (micro_batches * padded, width) if reduces else (padded, 4)
    fetched, fetched_width, tied = padded, width, 0
    if stage == 0:
        # The second half of an all-reduce, of the same type.
        fetched, fetched_width = reduced, reduced_width
    elif stage == 3:
        fetched, tied = (micro_batches * c for c in gathered(checks, label, graph, plan))
    promise = {0: 2, 1: 2, 2: micro_batches + 1, 3: 3 * micro_batches}[stage]
    total = (reduced + fetched - tied) / padded
    checks.that(each or (total <= promise if stage == 3 else total == promise),
                f"{label}: {total} P, promised {promise}")
    check_run(checks, label, graph, graph.compile(stage, ranks, *flags), ranks, reduced + fetched,
              reduced * reduced_width + fetched * fetched_width)


def check_persistent(checks, graph, ranks):
    """A persistent parameter is gathered once after its update instead of twice around its uses.
    The results are the same."""
    label = f"{graph.name} with persistent parameters on {ranks}"
    flags, kept_flags = ["--optimizer=adamw", "--recompute=none"], ["--persist-under=1KiB"]
    before = graph.run(graph.compile(3, ranks, *flags), 3)
    plan = Plan(graph, 3, ranks, *flags, *kept_flags)
    small = [k[len("grad."):] for k, v in graph.truth.items()
             if k.startswith("grad.") and 4 * v.size < 1024]
    whole = {plan.bucket_of[name] for name in small}
    checks.that(small and not whole & {bucket for name, bucket in plan.bucket_of.items()
                                       if name not in small}, f"{label}: mixed buckets {whole}")
    reduced = sum(plan.buckets)
    kept = sum(plan.buckets[bucket] for bucket in whole)
    model = onnx.load(graph.folder / "model.onnx", load_external_data=False).graph
    counts = {name: gathers(model, name, list(plan.bucket_of)) for name in plan.bucket_of}
    fetched = sum(size * max(counts[n] for n, b in plan.bucket_of.items() if b == bucket)
                  for bucket, size in enumerate(plan.buckets) if bucket not in whole)
    after_executable = graph.compile(3, ranks, *flags, *kept_flags)
    check_run(checks, label, graph, after_executable, ranks, reduced + fetched + kept)
    checks.that(graph.run(after_executable, 3).same_bits(before), f"{label}: other numbers")


def check_norm(checks, graph, ranks):
    """The global norm communicates one number per block of 64 elements. These are counted
    separately and occur only if gradients are sharded."""
    for stage in (0, 1, 3):
        label = f"{graph.name} stage {stage} on {ranks}"
        flags = ["--optimizer=adamw", "--recompute=none"]
        plan = Plan(graph, stage, ranks, *flags)
        padded, steps = sum(plan.buckets), 3
        fetched = gathered(checks, label, graph, plan)[0] if stage == 3 else padded
        plain, clipped = (
            check_run(checks, f"{label} {more}", graph, graph.compile(stage, ranks, *flags, *more),
                      ranks, padded + fetched) for more in ([], ["--clip-norm=1"]))
        blocks = steps * (padded // 64) * (ranks - 1) // ranks if stage else 0
        for rank, (before, after) in enumerate(zip(plain["per_rank"], clipped["per_rank"])):
            more = after["control_elements"] - before["control_elements"]
            checks.that(more == blocks,
                        f"{label}: rank {rank} takes {more} numbers for the norm, not {blocks}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp, gpt2 = Graph(data, "mlp", f"{work}/mlp"), Graph(data, "gpt2-tiny", f"{work}/gpt2")
    for ranks in (1, 2, 3, 4):
        check_graph(checks, mlp, ranks, range(4))
    check_graph(checks, gpt2, 2, (0, 3))
    check_graph(checks, gpt2, 4, (1, 2, 3))
    for stage in range(4):
        for precision in ("fp32", "bf16"):
            check_micro_batches(checks, gpt2, 4, stage, 4, precision, False)
        if stage < 2:
            check_micro_batches(checks, gpt2, 2, stage, 3, "bf16", True)
    check_persistent(checks, gpt2, 4)
    check_norm(checks, gpt2, 4)
    checks.finish()


if __name__ == "__main__":
    main()
