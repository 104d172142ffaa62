"""State that a planner divides by bucket over device, host and disk trains to the same bits as on the
device, needs exactly what its certificate says, is proved, and goes on from a checkpoint elsewhere.

usage: check_three_tiers.py DATA WORK
"""

import shutil
import subprocess
import sys

from check_tiers import check_watched, disk_bytes
from zero_test import Checks, Graph, certificate, run_tool

STEPS = 3
#: Small buckets, so that there are enough of them to divide.
FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01", "--bucket-bytes=20KB"]
TIERS = ("device", "host", "nvme")


def train(graph, executable, *flags, steps=STEPS):
    paths = [graph.work / name for name in ("log.jsonl", "out.safetensors")]
    run_tool("zero-run", executable, graph.data_flag, f"--steps={steps}", "--quiet",
             f"--nvme-dir={graph.work}", f"--log={paths[0]}", f"--save={paths[1]}", *flags)
    return [path.read_bytes() for path in paths]


def stored(tiers, kinds, tier):
    names = {"params": "parameters", "optimizer": "optimizer state"}
    return sum(tiers.get(tier, {}).get(names[kind], 0) for kind in kinds)


def compile_divided(graph, stage, ranks, flags, kinds):
    """Compiles with budgets that leave space for 40, 40 and 45 % of the state on device, host and
    disk: no two tiers have space for all of it. Returns the executable and the budgets."""
    common = ["--checkpoint=none", *FLAGS, *flags]
    graph.compile(stage, ranks, *common, *(f"--offload-{kind}=host" for kind in kinds))
    near = certificate(graph.report)
    state = stored(near, kinds, "host")
    staged = near["host"]["arena"] - state
    limits = {"memory": near["device"]["arena"] + int(0.4 * state),
              "host": staged + int(0.4 * state), "nvme": int(0.45 * state)}
    budgets = [f"--{tier}-budget={limit}" for tier, limit in limits.items()]
    auto = [f"--offload-{kind}=auto" for kind in kinds]
    return graph.compile(stage, ranks, *common, *auto, *budgets), limits


def check_divided(checks, graph, stage, ranks, flags=(), kinds=("optimizer",)):
    label = f"stage {stage} on {ranks}, {' '.join(flags)}, {' and '.join(kinds)}"
    expected = train(graph, graph.compile(stage, ranks, *FLAGS, *flags))
    executable, limits = compile_divided(graph, stage, ranks, flags, kinds)
    tiers = certificate(graph.report)
    print(f"{label}: {tiers}, {limits}")
    state = [stored(tiers, kinds, tier) for tier in TIERS]
    checks.that(min(state) >= 0.1 * sum(state), f"{label}: not on all tiers: {state}")
    for tier, limit in zip(TIERS, limits.values()):
        checks.that(tiers[tier]["arena"] <= limit, f"{label}: {tiers} of {limits}")
    got = train(graph, executable)
    checks.that(got[0] == expected[0], f"{label}: {got[0]}, expected {expected[0]}")
    checks.that(got[1] == expected[1], f"{label}: other weights")
    check_watched(checks, label, graph, executable, disk_bytes(graph.report))
    return executable, expected


def check_proved(checks, graph, executable):
    reference = graph.work / "reference.zexe"
    graph.compile_to(reference, *FLAGS)
    done = subprocess.run(["zero-check", reference, executable], capture_output=True, text=True)
    checks.that(done.returncode == 0, f"{executable} is not proved: {done.stdout}{done.stderr}")


def check_resumed(checks, graph, divided, expected):
    """From the three tiers to the device of another stage and number of ranks, and back."""
    state = graph.work / "state"
    device = graph.work / "device.zexe"
    graph.compile_to(device, "--zero-stage=0", "--ranks=1", *FLAGS)
    for first, second in ((divided, device), (device, divided)):
        train(graph, first, f"--save-state={state}", steps=1)
        got = train(graph, second, f"--resume={state}")
        checks.that(got[1] == expected[1], f"{second} resumes {first} to other weights")
        shutil.rmtree(state)


def check_named(checks, graph):
    """State with --offload-...=nvme is all on nvme; state with auto fills the host."""
    common = ["--checkpoint=none", *FLAGS]
    expected = train(graph, graph.compile(3, 1, *common))
    graph.compile(3, 1, *common, "--offload-params=nvme", "--offload-optimizer=nvme")
    alone = certificate(graph.report)
    budgets = [f"--memory-budget={alone['device']['arena']}",
               f"--host-budget={alone['host']['arena'] + alone['nvme']['arena'] // 4}"]
    for tiers in ({"params": "nvme", "optimizer": "nvme"}, {"params": "nvme", "optimizer": "auto"},
                  {"params": "auto", "optimizer": "nvme"}):
        flags = [f"--offload-{kind}={tier}" for kind, tier in tiers.items()]
        executable = graph.compile(3, 1, *common, *flags, *budgets)
        planned = certificate(graph.report)
        for kind, tier in tiers.items():
            on_host = stored(planned, [kind], "host")
            checks.that((on_host > 0) == (tier == "auto"), f"{flags}: {on_host} of {kind} on host")
        checks.that(train(graph, executable) == expected, f"{flags}: other losses or weights")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-tiny", work)
    for stage, ranks in ((0, 1), (0, 2), (1, 2), (2, 2), (3, 2)):
        check_divided(checks, graph, stage, ranks)
    both = ("params", "optimizer")
    check_divided(checks, graph, 3, 2, ["--micro-batches=2", "--clip-norm=1"], both)
    check_divided(checks, graph, 3, 1, ["--precision=bf16"], both)
    divided, expected = check_divided(checks, graph, 3, 1, kinds=both)
    check_proved(checks, graph, divided)
    check_resumed(checks, graph, divided, expected)
    check_named(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
