"""What zero-run says that a process needs is enough in a control group, and less is an error before
step 0.

usage: check_memory_limit.py DATA WORK
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from control_groups import Group
from zero_test import Checks, Graph, run_tool

MIB = 1 << 20


def run(graph, executable, limit, *words):
    with Group(limit) as group:
        done = subprocess.run(["zero-run", executable, graph.data_flag, "--steps=3", *words],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, preexec_fn=group.enter, timeout=300)
        return done.returncode, done.stdout, done.stderr


def check(checks, data, work, name, ranks, processes, *flags):
    label = f"{name}, {ranks} ranks in {processes} processes"
    graph = Graph(data, name, work)
    executable = graph.compile(1, ranks, *flags, f"--report={work / 'plan.json'}")
    report = work / "report.json"
    words = [f"--report-json={report}", *([f"--processes={processes}"] if processes > 1 else [])]
    code, output, errors = run(graph, executable, 8 << 30, *words)
    checks.that(code == 0 and re.search("^memory of this process: .* of arenas and .* beside them",
                                        output, re.MULTILINE), f"{label}: {code}: {output}{errors}")
    memory = json.loads(report.read_text())["process_memory"]
    needed = memory["arenas"] + memory["beside"]
    # Of all ranks in one process the certificate says it before there is one.
    stated = json.loads((work / "plan.json").read_text())["process"]
    checks.that(processes > 1 or (stated["arenas"] == memory["arenas"] and
                                  needed <= sum(stated.values())), f"{label}: {memory}, {stated}")
    arena = sum(map(int, re.findall(r"^  arena +(\d+)", graph.report, re.MULTILINE)))
    checks.that(memory["arenas"] == arena * ranks // processes, f"{label}: {memory}, arena {arena}")
    checks.that(memory["used"] <= needed, f"{label}: {memory}")
    # What a process has at its start differs by some pages; a launcher is in the group, too.
    more = (4 if processes > 1 else 1) * MIB
    code, output, errors = run(graph, executable, needed * processes + more, *words)
    checks.that(code == 0, f"{label}: what is needed is not enough: {code}: {errors}")
    code, output, errors = run(graph, executable, (needed - MIB) * processes, *words)
    checks.that(code == 1 and "step 0" not in output, f"{label}, too small: {code}: {output}{errors}")
    checks.that(re.search(rf"the {ranks // processes} ranks? of this process need .* of arenas and .* "
                          "beside them.*, and its control group '.*' allows .*, of which .* are in use: "
                          "raise the limit", errors), f"{label}, too small: {errors}")


def check_automatic(checks, data, work):
    """--auto plans for the group, not for the machine."""
    graph = Graph(data, "gpt2-mini", work)
    for limit in (160 * MIB, 512 * MIB):
        code, output, errors = run(graph, graph.folder / "model.onnx", limit, "--auto",
                                   "--optimizer=adamw", "--ranks=1")
        budget = re.search("^ram-budget: ([0-9.]+) MiB, 90 % of the available memory", output, re.MULTILINE)
        checks.that(budget and float(budget[1]) * MIB < limit, f"{limit}: {output}")
        # A group that is too small is an error, and not the end by the kernel.
        checks.that(code == 0 or (code == 1 and "error" in errors), f"{limit}: {code}: {output}{errors}")


def check_stated(checks, data, work):
    """A plan for a budget runs in a group of so many bytes, with state on the disk too."""
    graph = Graph(data, "gpt2-mini", work)
    disk = work / "disk"
    disk.mkdir(exist_ok=True)
    for ranks, budget in ((1, 400), (1, 180), (2, 260), (4, 320)):
        flags = [f"--ram-budget={budget}MiB", "--zero=auto", "--offload=auto", "--optimizer=adamw",
                 f"--ranks={ranks}"]
        executable = graph.work / "budget.zexe"
        run_tool("zeroc", graph.folder / "model.onnx", *flags, "-o", executable)
        code, output, errors = run(graph, executable, budget * MIB, f"--nvme-dir={disk}")
        checks.that(code == 0, f"{flags}: {code}: {output}{errors}")


def main():
    checks = Checks()
    data, work = Path(sys.argv[1]), Path(sys.argv[2])
    check(checks, data, work, "gpt2-mini", 1, 1)
    check(checks, data, work, "gpt2-mini", 2, 1)
    check(checks, data, work, "gpt2-mini", 2, 2)
    check(checks, data, work, "gpt2-mini", 4, 1)
    check(checks, data, work, "llama-tiny", 2, 1, "--offload-optimizer=host")
    check(checks, data, work, "resnet-tiny", 1, 1)
    check_automatic(checks, data, work)
    check_stated(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
