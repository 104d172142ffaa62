"""Optimizer state that the planner moves off the device fills the host first, and the disk stores
the rest; if the host stores the rest, as much as fits stays on the device. The plan keeps the
budgets of both, and the results are bitwise identical to a run in memory.

usage: check_auto_tiers.py DATA WORK [all]

all: also in bf16, and more budgets that are met or refused.
"""

import re
import sys
import time

from check_tiers import check_watched, disk_bytes
from zero_test import Checks, Failed, Graph, certificate, check_refused, run_tool

STEPS = 3
MIB = 1 << 20
FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
AUTO = ["--offload-optimizer=auto"]


def train(graph, executable):
    paths = [graph.work / name for name in ("log.jsonl", "out.safetensors")]
    run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--quiet",
             f"--nvme-dir={graph.work}", f"--log={paths[0]}", f"--save={paths[1]}")
    return [path.read_bytes() for path in paths]


def check_split(checks, graph, stage, ranks, device, host, flags, expected):
    """State resides on both tiers. Of the host's budget it fills about half at least: the planner may
    leave the rest for transfers."""
    label = f"stage {stage} on {ranks}, {device} and {host} MiB, {' '.join(flags)}"
    executable = graph.compile(stage, ranks, *FLAGS, *flags, f"--memory-budget={device}MiB",
                               f"--host-budget={host}MiB")
    tiers = certificate(graph.report)
    print(f"{label}: {tiers}")
    checks.that(tiers["device"]["arena"] <= device * MIB, f"{label}: {tiers}")
    checks.that(tiers.get("host", {}).get("arena", 0) <= host * MIB, f"{label}: {tiers}")
    on_host = tiers["host"].get("optimizer state", 0)
    on_disk = tiers.get("nvme", {}).get("optimizer state", 0)
    checks.that(on_host >= 0.45 * host * MIB, f"{label}: {on_host} bytes of state on the host")
    checks.that(on_disk > 0, f"{label}: nothing is on disk, so nothing was to be split")
    got = train(graph, executable)
    checks.that(got[0] == expected[0], f"{label}: {got[0]}, expected {expected[0]}")
    checks.that(got[1] == expected[1], f"{label}: other weights")
    check_watched(checks, label, graph, executable, disk_bytes(graph.report))
    return disk_bytes(graph.report)


def check_device_split(checks, graph, expected):
    """On a machine with a host beside the device, buckets stay on the device as far as its budget
    goes: the step is shorter than with all state on the host, and trains to the same bits."""
    flags = [*FLAGS, "--machine=rtx4090", "--bucket-bytes=2MB", "--host-budget=200MB"]
    last = None
    for device in (60, 70, 80):
        seconds = []
        for where in ("host", "auto"):
            executable = graph.compile(0, 1, *flags, f"--offload-optimizer={where}",
                                       f"--memory-budget={device}MB")
            seconds.append(float(re.search(r"bytes, ([\d.e+-]+) s a step", graph.report)[1]))
        tiers = certificate(graph.report)
        label = f"{device} MB: {seconds}, {tiers}"
        print(label)
        checks.that(seconds[1] < 0.9 * seconds[0], f"not faster: {label}")
        checks.that(tiers["device"]["arena"] <= device * 10**6, label)
        state = [tiers[tier]["optimizer state"] for tier in ("device", "host")]
        checks.that(min(state) > MIB, f"not divided: {label}")
        checks.that("of optimizer state on device, the rest on host" in graph.report, label)
        checks.that(last is None or seconds[1] <= last, f"slower than with less memory: {label}")
        last = seconds[1]
    checks.that(train(graph, executable) == expected, f"{label}: other losses or weights")
    check_watched(checks, label, graph, executable, (0, 0))
    check_refused(checks, "the gradients of some buckets only",
                  ["--dump-gradients has nothing to write"], "zero-run", executable,
                  graph.data_flag, f"--dump-gradients={graph.work}/g")


def check_growing(checks, graph, budgets):
    """A larger host budget reduces the traffic to and from the disk, and no plan is slower."""
    last = None
    for host in budgets:
        graph.compile(0, 1, *FLAGS, *AUTO, "--memory-budget=70MiB", f"--host-budget={host}MiB")
        seconds = float(re.search(r"bytes, ([\d.e+-]+) s a step", graph.report)[1])
        now = (*disk_bytes(graph.report), seconds)
        checks.that(last is None or all(a <= b for a, b in zip(now, last)),
                    f"{host} MiB: {now}, with less {last}")
        last = now
    checks.that(last[:2] == (0, 0), f"with room for all of it {last} bytes go to the disk")


def check_offload(checks, graph, flags, budgets, uses):
    """--offload=auto keeps the budgets of all tiers, uses `uses`, and trains to the same bits."""
    label = f"{flags}, {budgets}"
    stage = [] if "--zero=auto" in flags else ["--zero-stage=3"]
    paths = [graph.work / "memory.zexe", graph.work / "tiers.zexe"]
    training = [flag for flag in flags if not flag.startswith(("--offload", "--zero"))]
    graph.compile_to(paths[0], "--zero-stage=3", "--ranks=2", *FLAGS, *training)
    limits = [f"--{tier}-budget={bytes}" for tier, bytes in budgets.items()]
    report = graph.compile_to(paths[1], *stage, "--ranks=2", *FLAGS, *flags, *limits)
    tiers = certificate(report)
    print(f"{label}: {tiers}")
    for budget, bytes in budgets.items():
        tier = "device" if budget == "memory" else budget
        checks.that(tiers.get(tier, {}).get("arena", 0) <= bytes, f"{label}: {tiers}")
    checks.that(re.search(uses, report), f"{label}: no {uses} in {report}")
    expected, got = (train(graph, path) for path in paths)
    checks.that(got == expected, f"{label}: other losses or weights")


def check_refusal(checks, graph, ranks, memory, flags, helps=()):
    """If the planner chooses tiers, a model that does not fit is an error that names the smallest
    budget, with which a plan is found, and what else helps."""
    label = f"{memory} on {ranks}, {' '.join(flags)}"
    command = ["zeroc", graph.folder / "model.onnx", "--plan-only", f"--ranks={ranks}", *FLAGS,
               *flags]
    begin = time.monotonic()
    try:
        run_tool(*command, f"--memory-budget={memory}")
        checks.that(False, f"{label}: a plan fits")
        return
    except Failed as refusal:
        text = str(refusal)
    print(f"{label}: refused after {time.monotonic() - begin:.1f} s")
    smallest = int(re.search(r"smallest budget with a plan is (\d+)", text)[1])
    arena = certificate(run_tool(*command, f"--memory-budget={smallest}"))["device"]["arena"]
    checks.that(arena <= smallest, f"{label}: {arena} bytes with a budget of {smallest}")
    for name in helps:
        option = re.search(rf"\n  ({name}=\w+): ", text)[1]
        run_tool(*[word for word in map(str, command) if not word.startswith(name)],
                 f"--memory-budget={memory}", option)


def main():
    data, work, *everything = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-mini", work)
    for stage, ranks, device, host, flags in (
            (0, 1, 56, 36, AUTO),
            (3, 2, 50, 24, AUTO),
            (1, 2, 70, 24, [*AUTO, "--micro-batches=2", "--clip-norm=1"]),
            *([(3, 2, 50, 28, [*AUTO, "--precision=bf16"])] if everything else [])):
        training = [flag for flag in flags if flag not in AUTO]
        expected = train(graph, graph.compile(stage, ranks, *FLAGS, *training))
        check_split(checks, graph, stage, ranks, device, host, flags, expected)
    check_device_split(checks, graph, train(graph, graph.compile(0, 1, *FLAGS)))
    check_growing(checks, graph, (34, 40, 48, 56, 64) if everything else (34, 48, 64))
    free = ["--zero=auto", "--offload=auto"]
    check_offload(checks, graph, free, {"memory": 72 * MIB, "host": 24 * MIB},
                  "host of each rank")
    check_offload(checks, graph, ["--offload=auto", "--offload-gain=0"],
                  {"memory": 68 * MIB, "host": 14 * MIB, "nvme": 30 * MIB}, "nvme of each rank")
    check_offload(checks, graph, ["--offload=auto", "--micro-batches=2"],
                  {"memory": 50 * MIB, "host": 60 * MIB}, "gradients on host")
    check_refusal(checks, graph, 1, "1MiB",
                  [*AUTO, "--offload-activations=auto", "--host-budget=40MiB"])
    check_refusal(checks, graph, 4, "24MB", [*free, "--host-budget=3MB"],
                  ["--host-budget", "--ranks"])
    if everything:
        check_refusal(checks, graph, 4, "10MB", [*free, "--host-budget=10MB"])
        check_refusal(checks, graph, 4, "40MB", [*free, "--host-budget=1MB", "--nvme-budget=1MB"],
                      ["--ranks"])
    checks.finish()


if __name__ == "__main__":
    main()
