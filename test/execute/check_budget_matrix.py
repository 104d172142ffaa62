"""What the planner says about budgets, tried: what it accepts fits, what it names fits, and less
does not, or takes longer.

usage: check_budget_matrix.py DATA WORK [MODEL...]

Of each set of flags and budgets: if there is a plan, it keeps the budgets, and 99 % of what it takes
is refused or gives a plan that is not faster. If there is none, the budget that the error names has
a plan and 99 % of it has none, and the first of the options that it lists has the plan that it says.
21 sets for each MODEL (gpt2-tiny, gpt2-mini, gpt-354m), else a few on gpt2-tiny. Prints each set as
it is done: one of gpt-354m takes minutes.
"""

import json
import re
import sys
import time
from pathlib import Path

from zero_test import Checks, Failed, run_tool

AUTO = ["--zero=auto", "--offload=auto"]

# Flags, and budgets as parts of what a plan without a budget takes on the device.
WAYS = [
    (["--ranks=1"], "ram", ""),
    (["--ranks=2", "--zero-stage=3"], "memory", ""),
    (["--ranks=1", *AUTO], "ram", ""),
    (["--ranks=2", *AUTO], "ram", ""),
    (["--ranks=4", "--zero=auto"], "memory", ""),
    (["--ranks=1", *AUTO], "memory", "host"),
    (["--ranks=2", *AUTO], "memory", "host nvme"),
]
PARTS = (1.0, 0.6, 0.3)


class Plan:
    """A plan, from the report and what zeroc printed."""

    def __init__(self, report, text):
        self.device = report["arena_bytes"]
        tiers = {tier["name"]: tier["arena_bytes"] for tier in report.get("tiers", [])}
        self.host, self.nvme = tiers.get("host", 0), tiers.get("nvme", 0)
        self.ram = sum(report["process"].values())
        self.seconds = float(re.search(r"plan: .*bytes, ([\d.e+-]+) s a step", text)[1])
        self.writes = "written to the disk" in text

    def taken(self, budget):
        return {"memory": self.device, "ram": self.ram, "host": self.host, "nvme": self.nvme}[budget]

    def weighted(self):
        """A plan that writes to the disk counts as 10 % slower."""
        return self.seconds * (1.1 if self.writes else 1)


class Model:
    def __init__(self, path, work, flags):
        self.path, self.flags, self.report = path, flags, work / "plan.json"
        self.slowest = 0.0

    def plan(self, *flags):
        """A Plan and an empty text, or None and the error."""
        began = time.monotonic()
        try:
            text = run_tool("zeroc", self.path, "--plan-only", f"--report={self.report}",
                            *self.flags, *flags)
            return Plan(json.loads(self.report.read_text()), text), ""
        except Failed as failed:
            return None, str(failed)
        finally:
            self.slowest = max(self.slowest, time.monotonic() - began)


def budget_flags(budgets):
    return [f"--{name}-budget={int(size)}" for name, size in budgets.items()]


def check_plan(checks, label, model, flags, budgets, plan):
    for name, size in budgets.items():
        checks.that(plan.taken(name) <= size, f"{label}: {plan.taken(name)} bytes of {name}")
    main = next(iter(budgets))
    less = {**budgets, main: plan.taken(main) * 99 // 100}
    found, _ = model.plan(*flags, *budget_flags(less))
    checks.that(found is None or found.weighted() >= plan.weighted() * 0.99,
                f"{label}: {less} is faster: {found and found.seconds} s after {plan.seconds}")


def check_refusal(checks, label, model, flags, budgets, error):
    main = next(iter(budgets))
    named = re.search(r"--(\w+)-budget=\S+: .*the smallest budget with a plan is (\d+) bytes", error)
    if not named:
        checks.that(re.search(r"-budget=\S+: no plan fits into", error), f"{label}: {error}")
        return
    name, smallest = named[1], int(named[2])
    checks.that(name in budgets, f"{label}: {error}")
    found, again = model.plan(*flags, *budget_flags({**budgets, name: smallest}))
    checks.that(found or name != main, f"{label}: {name} {smallest} has no plan: {again}")
    checks.that(found is None or found.taken(name) <= smallest, f"{label}: {name}")
    found, _ = model.plan(*flags, *budget_flags({**budgets, name: smallest * 99 // 100}))
    checks.that(found is None, f"{label}: 99 % of {smallest} has a plan")
    options = re.findall(r"^ *(--\S+(?: --\S+)*): [\d.]+ s a step", error, re.MULTILINE)
    checks.that(options or name != main, f"{label}: no option in {error}")
    if options:
        check_option(checks, label, model, flags, budgets, options[0].split())


def check_option(checks, label, model, flags, budgets, option):
    """A flag of the option takes the place of the same one."""
    names = {word.split("=")[0] for word in option}
    names |= {"--zero", "--zero-stage"} if names & {"--zero", "--zero-stage"} else set()
    kept = [word for word in [*flags, *budget_flags(budgets)] if word.split("=")[0] not in names]
    found, error = model.plan(*kept, *option)
    checks.that(found, f"{label}: {option} does not fit: {error}")


def check_model(checks, name, model, ways, parts):
    tried = refused = 0
    for flags, main, others in ways:
        ample, error = model.plan(*flags, "--memory-budget=1TiB",
                                  *(["--host-budget=1TiB"] if "--offload=auto" in flags else []))
        checks.that(ample, f"{name}, {flags}: {error}")
        for part in parts:
            budgets = {main: ample.taken(main) * part}
            budgets |= {other: ample.device * (part if other == "host" else 8)
                        for other in others.split()}
            label = f"{name}, {' '.join(flags)} {' '.join(budget_flags(budgets))}"
            plan, error = model.plan(*flags, *budget_flags(budgets))
            tried += 1
            refused += plan is None
            if plan:
                check_plan(checks, label, model, flags, budgets, plan)
            else:
                check_refusal(checks, label, model, flags, budgets, error)
            print(f"{label}: {'a plan' if plan else 'refused'}, {checks.held} checks hold, "
                  f"{len(checks.failed)} fail", flush=True)
    print(f"{name}: {tried} sets, {refused} refused, at most {model.slowest:.1f} s")


def main():
    data, work, *names = sys.argv[1:]
    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    for name in names or ["gpt2-tiny"]:
        path, flags = Path(data, name, "model.onnx"), ["--optimizer=adamw"]
        if name == "gpt-354m":
            path = work / "gpt.onnx"
            flags.append("--init=normal:0.02")
            run_tool("zero-translate", "--make-gpt=layers=24,width=1024,heads=16,"
                     "vocabulary=50304,sequence=128,batch=1", "-o", path)
        check_model(checks, name, Model(path, work, flags), WAYS if names else WAYS[:3],
                    PARTS if names else PARTS[1:])
    checks.finish()


if __name__ == "__main__":
    main()
