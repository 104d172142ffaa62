"""--drive-writes limits what a day of steps writes to drives. The planner keeps the budget or names
the least rate that has a plan. zeroc, its report, zero-sim and a run agree on the bytes, and the
first three on the time of a step.

usage: check_drive_writes.py DATA WORK
"""

import json
import re
import sys

from check_tiers import check_watched, disk_bytes
from check_timeline import write_machine
from zero_test import Checks, Failed, Graph, run_tool

DAY, RANKS, DRIVES, ENDURANCE = 86400, 2, 2, 600e12
#: Planner and zero-sim simulate the same commands; docs/reference/machine.md says how near.
NEAR = 0.01
DISK = {"read_bandwidth": 2e9, "write_bandwidth": 1e9, "count": DRIVES, "endurance": ENDURANCE}
#: Device and host have no room for all optimizer state; activations may leave for drives, or be
#: recomputed.
FLAGS = ["--optimizer=adamw", "--memory-budget=60MiB", "--host-budget=9MiB", "--offload-gain=0",
         "--offload-optimizer=auto", "--offload-activations=auto"]


def plan(graph, machine, *flags):
    """The executable of a plan, its report, and what zeroc printed."""
    report, program = graph.work / "plan.json", graph.work / "plan.zexe"
    text = graph.compile_to(program, "--zero-stage=3", f"--ranks={RANKS}", f"--machine={machine}",
                            f"--report={report}", "--no-cache", *FLAGS, *flags)
    return program, json.loads(report.read_text()), text


def check_agreement(checks, graph, machine, program, report, text):
    """The drives of a node in zeroc's text and report, zero-sim's report and a run."""
    drives, (read, written) = report["drives"], disk_bytes(text)
    simulated = json.loads(run_tool("zero-sim", program, f"--machine={machine}", "--json"))
    checks.that(written > 0, f"nothing is written: {text}")
    checks.that((drives["read_per_step"], drives["written_per_step"]) == (RANKS * read, RANKS * written),
                f"{drives}, {RANKS} ranks move {read} and {written}")
    checks.that(abs(drives["step_seconds"] / simulated["seconds"] - 1) < NEAR,
                f"{drives} and zero-sim's {simulated['seconds']}")
    rate = RANKS * written / drives["step_seconds"] * DAY
    for found, seconds in ((drives, drives["step_seconds"]),
                           (simulated["drives"], simulated["seconds"])):
        exact = RANKS * written / seconds * DAY
        checks.that(abs(found["written_per_day"] / exact - 1) < 1e-6, f"{found}, expected {exact}")
        checks.that(found["written_per_step"] == RANKS * written, f"{found}")
        checks.that(abs(found["years"] / (DRIVES * ENDURANCE / exact / 365.25) - 1) < 1e-6,
                    f"{found}")
    for lines in (text, run_tool("zero-sim", program, f"--machine={machine}")):
        years = re.search(r"drives of a node: .* uses up the endurance of 1200 TB in (\S+) years",
                          lines)
        checks.that(years and abs(float(years[1]) / drives["years"] - 1) < 2 * NEAR, lines)
    check_watched(checks, "a run", graph, program, (read, written))
    return rate


def refusal(graph, machine, rate):
    """The least rate with a plan, which the refusal of `rate` names."""
    try:
        plan(graph, machine, f"--drive-writes={rate}/day")
    except Failed as failed:
        found = re.search(r"--drive-writes=\S+/day: every plan that fits writes more to the drives of "
                          r"a node at its planned step time; the least rate with a plan is (\d+) bytes",
                          str(failed))
        return int(found[1]) if found else str(failed)
    return f"{rate} a day is not refused"


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-mini", work)
    machine = write_machine(graph, "drives", disk=DISK)
    fastest = check_agreement(checks, graph, machine, *plan(graph, machine))
    least = refusal(graph, machine, 1)
    print(f"bytes a day: {fastest:.4g} of the fastest plan, {least} at least")
    checks.that(isinstance(least, int) and least < fastest, f"{least}, of the fastest {fastest}")
    # The least rate, and one between: the plan keeps both, and takes longer than the fastest.
    for limit in (least, int((least + fastest) / 2)):
        rate = check_agreement(checks, graph, machine,
                               *plan(graph, machine, f"--drive-writes={limit}/day"))
        checks.that(rate <= limit, f"{rate} bytes a day with a budget of {limit}")
    checks.that(refusal(graph, machine, least - 1) == least, f"{least - 1} a day has a plan")
    checks.finish()


if __name__ == "__main__":
    main()
