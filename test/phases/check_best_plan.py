"""A plan with everything left to the planner is as fast in zero-sim as the best of all plans that
flags can say, for several budgets. On small programs all of these are compiled.

usage: check_best_plan.py DATA WORK [EVERY]

EVERY: of so many of the plans below, one is compiled (1). If it is given, each case has every other
budget.
"""

import itertools
import json
import re
import sys
from pathlib import Path

from zero_test import Checks, Graph, certificate, run_tool

#: A model, its flags, a machine, and of how many plans one is compiled.
CASES = [("mlp", "--ranks=2 --optimizer=adamw", "cpu", 3),
         ("gpt2-tiny", "--ranks=2 --optimizer=adamw --micro-batches=2", "cpu", 7),
         ("gpt2-tiny", "--ranks=4 --optimizer=adamw --device=cuda", "dgx2", 7)]
#: Quantiles of the memory of these plans on the device, and of those that use it on the host.
BUDGETS = [(0.0, 1.0), (0.1, 0.5), (0.3, 0.5), (1.0, 0.2)]
#: The planner times a program before its values have addresses, see docs/design/planning.md.
SLOWER = 1.02


def all_flags():
    """The flags of all plans: placement, tiers and recomputation."""
    for stage in range(4):
        for params, optimizer, gradients, activations, checkpoint in itertools.product(
                ["device", "host", "nvme"], ["device", "host", "nvme"], ["device", "host"],
                ["device", "host", "nvme"], ["none", "layer"]):
            if params != "device" and stage < 3 or gradients != "device" and optimizer == "device":
                continue
            yield [f"--zero-stage={stage}", f"--offload-params={params}",
                   f"--offload-optimizer={optimizer}", f"--offload-gradients={gradients}",
                   f"--offload-activations={activations}", f"--checkpoint={checkpoint}"]


def arenas(text):
    """Bytes of each tier's arena."""
    found = certificate(text)
    return {tier: found[tier]["arena"] if tier in found else 0 for tier in ("device", "host", "nvme")}


class Case:
    def __init__(self, data, work, model, flags, machine):
        self.graph = Graph(data, model, work / model)
        self.flags, self.machine = flags.split(), f"--machine={machine}"

    def measure(self, *flags):
        """Bytes of the tiers and simulated seconds of a step."""
        executable = self.graph.work / "plan.zexe"
        takes_machine = any(re.search("auto|host|nvme|cuda", flag) for flag in (*flags, *self.flags))
        text = self.graph.compile_to(executable, *[self.machine] * takes_machine, *self.flags, *flags)
        report = json.loads(run_tool("zero-sim", executable, self.machine, "--json"))
        return arenas(text), report["seconds"]


def quantile(values, part):
    values = sorted(values)
    return values[round(part * (len(values) - 1))]


def check(checks, case, label, every, budgets):
    plans = []
    for flags in itertools.islice(all_flags(), 0, None, every):
        plans.append((*case.measure(*flags), flags))
    print(f"{label}: {len(plans)} plans")
    for of_device, of_host in budgets:
        device = quantile([bytes["device"] for bytes, _, _ in plans], of_device)
        host = quantile([bytes["host"] for bytes, _, _ in plans if bytes["host"]], of_host)
        fitting = [(seconds, flags) for bytes, seconds, flags in plans
                   if bytes["device"] <= device and bytes["host"] <= host]
        if not fitting:
            continue
        best, flags = min(fitting)
        bytes, seconds = case.measure("--zero=auto", "--offload=auto", "--offload-gain=0",
                                      f"--memory-budget={device}", f"--host-budget={host}")
        budget = f"{label}, {device} and {host} bytes"
        print(f"{budget}: {seconds:.4g} s, best of {len(fitting)} {best:.4g} s: {' '.join(flags)}")
        checks.that(bytes["device"] <= device and bytes["host"] <= host, f"{budget}: {bytes}")
        checks.that(seconds <= best * SLOWER, f"{budget}: {seconds} s, {best} s with {flags}")


def main():
    data, work, *sparse = sys.argv[1:]
    checks = Checks()
    for number, (model, flags, machine, every) in enumerate(CASES):
        case = Case(data, Path(work), model, flags, machine)
        check(checks, case, f"{model} on {machine}", every * int(sparse[0] if sparse else 1),
              BUDGETS[number % 2::2] if sparse else BUDGETS)
    checks.finish()


if __name__ == "__main__":
    main()
