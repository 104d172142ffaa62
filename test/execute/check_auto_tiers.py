"""Optimizer state that the planner moves off the device fills the host first, and the disk stores
the rest. The plan keeps the budgets of both, and the results are bitwise identical to a run in
memory.

usage: check_auto_tiers.py DATA WORK
"""

import re
import sys

from check_tiers import check_watched, disk_bytes
from zero_test import Checks, Failed, Graph, run_tool

STEPS = 3
MIB = 1 << 20
FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
AUTO = ["--offload-optimizer=auto"]


def certificate(text):
    """Bytes of each tier's arena, and of optimizer state on it, by tier."""
    tiers, tier = {}, "device"
    for line in text.splitlines():
        if found := re.match(r"(host|nvme) of each rank, bytes:", line):
            tier = found[1]
        if found := re.match(r"  (optimizer state|arena) +(\d+)", line):
            tiers.setdefault(tier, {})[found[1]] = int(found[2])
    return tiers


def train(graph, executable):
    paths = [graph.work / name for name in ("log.jsonl", "out.safetensors")]
    run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--quiet",
             f"--nvme-dir={graph.work}", f"--log={paths[0]}", f"--save={paths[1]}")
    return [path.read_bytes() for path in paths]


def check_split(checks, graph, stage, ranks, device, host, flags, expected):
    """State resides on both tiers, and most of the host's budget is used."""
    label = f"stage {stage} on {ranks}, {device} and {host} MiB, {' '.join(flags)}"
    executable = graph.compile(stage, ranks, *FLAGS, *flags, f"--memory-budget={device}MiB",
                               f"--host-budget={host}MiB")
    tiers = certificate(graph.report)
    print(f"{label}: {tiers}")
    checks.that(tiers["device"]["arena"] <= device * MIB, f"{label}: {tiers}")
    checks.that(tiers.get("host", {}).get("arena", 0) <= host * MIB, f"{label}: {tiers}")
    on_host = tiers["host"].get("optimizer state", 0)
    on_disk = tiers.get("nvme", {}).get("optimizer state", 0)
    checks.that(on_host >= 0.5 * host * MIB, f"{label}: {on_host} bytes of state on the host")
    checks.that(on_disk > 0, f"{label}: nothing is on disk, so nothing was to be split")
    got = train(graph, executable)
    checks.that(got[0] == expected[0], f"{label}: {got[0]}, expected {expected[0]}")
    checks.that(got[1] == expected[1], f"{label}: other weights")
    check_watched(checks, label, graph, executable, disk_bytes(graph.report))
    return disk_bytes(graph.report)


def check_growing(checks, graph):
    """A larger host budget reduces the traffic to and from the disk, and no plan is slower."""
    last = None
    for host in (34, 40, 48, 56, 64):
        graph.compile(0, 1, *FLAGS, *AUTO, "--memory-budget=70MiB", f"--host-budget={host}MiB")
        seconds = float(re.search(r"bytes, ([\d.e+-]+) s a step", graph.report)[1])
        now = (*disk_bytes(graph.report), seconds)
        checks.that(last is None or all(a <= b for a, b in zip(now, last)),
                    f"{host} MiB: {now}, with less {last}")
        last = now
    checks.that(last[:2] == (0, 0), f"with room for all of it {last} bytes go to the disk")


def check_refusal(checks, graph):
    """If the planner chooses everything, a model that does not fit is an error that names the
    smallest budget."""
    flags = [*AUTO, "--offload-activations=auto", "--host-budget=40MiB"]
    try:
        graph.compile(0, 1, *FLAGS, *flags, "--memory-budget=1MiB")
        checks.that(False, "1 MiB holds the model")
    except Failed as refusal:
        smallest = int(re.search(r"smallest budget with a plan is (\d+)", str(refusal))[1])
        graph.compile(0, 1, *FLAGS, *flags, f"--memory-budget={smallest}")
        checks.that(certificate(graph.report)["device"]["arena"] == smallest,
                    f"{smallest}: {graph.report}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-mini", work)
    for stage, ranks, device, host, flags in (
            (0, 1, 70, 48, AUTO),
            (3, 2, 50, 24, AUTO),
            (3, 2, 50, 28, [*AUTO, "--precision=bf16"]),
            (1, 2, 70, 24, [*AUTO, "--micro-batches=2", "--clip-norm=1"])):
        training = [flag for flag in flags if flag not in AUTO]
        expected = train(graph, graph.compile(stage, ranks, *FLAGS, *training))
        check_split(checks, graph, stage, ranks, device, host, flags, expected)
    check_growing(checks, graph)
    check_refusal(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
