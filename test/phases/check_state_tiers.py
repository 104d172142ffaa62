"""Budgets of three tiers that have space for all state together are not refused, and no plan is slower
than one of another budget that fits as well: each plan is compared with all budgets.

usage: check_state_tiers.py DATA WORK
"""

import itertools
import re
import sys

from zero_test import Checks, Failed, Graph, certificate, run_tool

TIERS = ("device", "host", "nvme")
#: Plans of the planner differ in tiers only.
FLAGS = ["--zero-stage=3", "--ranks=1", "--optimizer=adamw", "--bucket-bytes=40KB",
         "--checkpoint=none", "--machine=rtx4090"]
AUTO = ["--offload-params=auto", "--offload-optimizer=auto", "--offload-gain=0"]
#: What may be stored on each tier beside what a step with all state on the host needs there, in
#: parts of that state: together always enough, although buckets are moved whole, and gradients of
#: buckets whose state is on the device are there, too.
PARTS = ((0.2, 0.45), (0.35, 0.6), (0.75,))
PARAMETERS_BYTES = 539_648
#: The planner times a program before its values have addresses, see docs/design/planning.md.
SLOWER = 1.02


def compiled(graph, *flags):
    """Bytes of the arenas and simulated seconds of a step, or None if no plan fits."""
    try:
        report = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", *FLAGS, *flags)
    except Failed as refusal:
        if "no plan fits" in str(refusal):
            return None
        raise
    tiers = certificate(report)
    arenas = tuple(tiers.get(tier, {}).get("arena", 0) for tier in TIERS)
    planned = re.search(r"bytes, ([\d.e+-]+) s a step", report)
    return arenas, float(planned[1]) if planned else None


def fits(arenas, limits):
    return all(arena <= limit for arena, limit in zip(arenas, limits))


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-tiny", work)
    # Parameters, f32, and two moments; what the host needs beside them.
    near, _ = compiled(graph, "--offload-params=host", "--offload-optimizer=host")
    state = 3 * PARAMETERS_BYTES
    staged = near[1] - state
    plans = {}
    for parts in itertools.product(*PARTS):
        limits = (near[0] + int(parts[0] * state), staged + int(parts[1] * state),
                  int(parts[2] * state))
        plans[limits] = compiled(graph, *AUTO, f"--memory-budget={limits[0]}",
                                 f"--host-budget={limits[1]}", f"--nvme-budget={limits[2]}")
        print(f"{parts} of {state} bytes: {limits}: {plans[limits]}")
        checks.that(plans[limits], f"{limits}: refused, although the tiers have space for all")
        if plans[limits]:
            checks.that(fits(plans[limits][0], limits), f"{limits}: {plans[limits]}")
    found = [plan for plan in plans.values() if plan]
    for limits, plan in plans.items():
        for arenas, seconds in found:
            if fits(arenas, limits):
                checks.that(plan and plan[1] <= seconds * SLOWER,
                            f"{limits}: {plan}, but {arenas} take {seconds} s")
    divided = [arenas for arenas, _ in found if min(arenas) > 0]
    checks.that(len(divided) >= 2, f"few plans use all tiers: {divided}")
    checks.finish()


if __name__ == "__main__":
    main()
