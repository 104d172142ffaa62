"""Elements received per rank and step, against what the graph says by itself.

usage: check_volume.py DATA WORK
"""

import sys

import onnx

from zero_test import Checks, Graph, Plan

# Operand index of what backward never reads the value of: tables and addends.
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
    """How often stage 3 fetches a parameter: for each use forward, and for backward where
    the gradient of another operand takes its value."""
    dependent = depends_on(graph, trained)
    count = 0
    for node, index in uses_of(graph, parameter):
        others = [operand for i, operand in enumerate(node.input[:2]) if i != index]
        reads = (index not in VALUE_UNREAD.get(node.op_type, []) and
                 any(other in dependent for other in others))
        count += 2 if reads else 1
    return count


def check_run(checks, label, graph, executable, ranks, elements):
    """What each rank received is (N-1)/N of what is planned, in every step."""
    steps = 3
    report = graph.run(executable, steps).report
    expected = elements * (ranks - 1) // ranks
    checks.that(report["planned_elements_per_step"] == expected,
                f"{label}: planned {report['planned_elements_per_step']}, expected {expected}")
    for rank, stats in enumerate(report["per_rank"]):
        checks.that(stats["received_elements"] == steps * expected,
                    f"{label}: rank {rank} received {stats['received_elements']} in {steps} "
                    f"steps, expected {expected} each")
        checks.that(stats["received_bytes"] == 4 * stats["received_elements"], f"{label}: bytes")


def check_graph(checks, graph, ranks, stages):
    model = onnx.load(graph.folder / "model.onnx", load_external_data=False).graph
    sizes = {k[len("grad."):]: v.size for k, v in graph.truth.items() if k.startswith("grad.")}
    for stage in stages:
        label = f"{graph.name} stage {stage} on {ranks}"
        flags = ["--optimizer=adamw"]
        plan = Plan(graph, stage, ranks, *flags)
        checks.that(plan.bucket_of.keys() == sizes.keys(), f"{label}: parameters")
        padded = sum(plan.buckets)
        elements = 2 * padded
        if stage == 3:
            counts = {name: gathers(model, name, sizes) for name in sizes}
            of_bucket = [{counts[n] for n, b in plan.bucket_of.items() if b == bucket}
                         for bucket in range(len(plan.buckets))]
            checks.that(all(len(c) == 1 for c in of_bucket), f"{label}: mixed buckets {of_bucket}")
            elements = padded + sum(size * max(c) for size, c in zip(plan.buckets, of_bucket))
            print(f"{label}: {elements / sum(sizes.values()):.3f} P, padding included")
        check_run(checks, label, graph, graph.compile(stage, ranks, *flags), ranks, elements)


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp, gpt2 = Graph(data, "mlp", f"{work}/mlp"), Graph(data, "gpt2-tiny", f"{work}/gpt2")
    for ranks in (1, 2, 3, 4):
        check_graph(checks, mlp, ranks, range(4))
    check_graph(checks, gpt2, 2, (0, 3))
    check_graph(checks, gpt2, 4, (1, 2, 3))
    checks.finish()


if __name__ == "__main__":
    main()
