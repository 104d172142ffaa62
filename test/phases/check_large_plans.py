"""Plans of generated models with 175 billion parameters, without their weights and in little
memory. bench/plans.py measures the time. This test counts work that does not depend on a clock.

usage: check_large_plans.py WORK [all]
"""

import functools
import re
import resource
import subprocess
import sys
from pathlib import Path

from zero_test import Checks, run_tool

MAKE = Path(__file__).parent.parent / "support" / "make_gpt2.py"
LAYERS = 96
BYTES = 2 << 30
AUTO = ["--zero=auto", "--ranks=64", "--machine=h100", "--memory-budget=52GiB"]
CASES = [  # flags, expected text of the report
    (["--zero-stage=3", "--ranks=1024"], "ZeRO stage 3 on 1024 ranks, 174604836864 parameters"),
    (["--zero-stage=3", "--ranks=1024", "--checkpoint=layer"], "96 layers"),
    (["--zero-stage=3", "--mesh=data=64,tensor=16", "--checkpoint=layer", "--partition-activations"],
     "ZeRO stage 3 on 64 x 16 ranks (data x tensor), 174604836864 parameters"),
    (["--zero-stage=3", "--ranks=64", "--checkpoint=auto", "--memory-budget=80GiB"], "plan: stage 3"),
    (AUTO, "tiles of parameters above"),
]
MORE_CASES = [([*AUTO[:-1], "--memory-budget=80GiB"], "plan: stage 3")]
TRIED = re.compile(r"fastest of (\d+) plans by the planner's cost model, (\d+) of them built")


def make(work, layers):
    model = work / f"{layers}.onnx"
    subprocess.run([sys.executable, MAKE, f"--layers={layers}", "--width=12288", "--heads=96",
                    "--vocabulary=50304", "--sequence=2048", "--batch=1", "--sparse", model],
                   check=True)
    return model


@functools.cache
def plan(model, *flags):
    return run_tool("zeroc", model, "--plan-only", *flags, timeout=3600)


def check_tries(checks, work, model):
    """A deeper model does not need more plans. The cost of a plan is linear in its layers."""
    counts = {}
    for layers, graph in ((LAYERS // 4, make(work, LAYERS // 4)), (LAYERS, model)):
        # The budget excludes memory that does not grow, so both models have equally many choices.
        budget = f"--memory-budget={20 + 32 * layers // LAYERS}GiB"
        counts[layers] = [int(count) for count in
                          TRIED.search(plan(graph, *AUTO[:-1], budget)).groups()]
    print(f"plans, and how many were made, by layers: {counts}")
    few, many = counts[LAYERS // 4], counts[LAYERS]
    checks.that(many[0] <= 2 * few[0] and many[1] <= 2 * few[1] + 10, f"{counts}")


def main():
    work, takes_all = Path(sys.argv[1]), sys.argv[2:] == ["all"]
    work.mkdir(parents=True, exist_ok=True)
    model = make(work, LAYERS)
    checks = Checks()
    for flags, words in CASES + MORE_CASES * takes_all:
        text = plan(model, *flags)
        checks.that(words in text, f"{flags}: {text[-2000:]}")
    check_tries(checks, work, model)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"at most {peak >> 20} MiB")
    checks.that(peak < BYTES, f"{peak} bytes")
    checks.finish()


if __name__ == "__main__":
    main()
