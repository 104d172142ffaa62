"""A planner's seconds of a step are those of zero-sim for the executable of the same plan.

usage: check_planned_seconds.py DATA WORK
"""

import json
import re
import sys

from zero_test import Checks, Graph, run_tool

NEAR = 0.15
SECONDS = re.compile(r"([0-9.e-]+) s a step")
CASES = [  # a machine, and flags
    ("cpu", "--zero-stage=3 --ranks=2"),
    ("cpu", "--zero-stage=1 --ranks=2 --micro-batches=4"),
    ("cpu", "--zero-stage=2 --ranks=2 --offload-optimizer=nvme --offload-activations=host"),
    ("h200", "--zero-stage=2 --ranks=8 --micro-batches=4 --device=cuda"),
    ("dgx2", "--zero-stage=3 --ranks=32 --offload-optimizer=host --device=cuda"),
    ("rtx4090", "--zero-stage=3 --ranks=1 --offload-optimizer=nvme --offload-params=nvme "
                "--micro-batches=4 --device=cuda"),
]


def check(checks, graph, machine, flags):
    executable = graph.work / "planned.zexe"
    text = run_tool("zeroc", graph.folder / "model.onnx", f"--machine={machine}",
                    "--memory-budget=8GiB", *flags.split(), "-o", executable)
    planned = float(SECONDS.search(text).group(1))
    report = json.loads(run_tool("zero-sim", executable, f"--machine={machine}", "--json"))
    error = planned / report["seconds"] - 1
    print(f"{machine} {flags}: planned {planned:.4g} s, simulated {report['seconds']:.4g} s")
    checks.that(abs(error) < NEAR, f"{machine} {flags}: {error:+.1%}")
    busiest = max(report["lanes"].values())
    checks.that(report["seconds"] >= busiest * (1 - 1e-6), f"{machine} {flags}: {report['lanes']}")


def main():
    data, work = sys.argv[1:]
    checks, graph = Checks(), Graph(data, "gpt2-mini", work)
    for machine, flags in CASES:
        check(checks, graph, machine, flags)
    checks.finish()


if __name__ == "__main__":
    main()
