"""zeroc --profile plans with the times of kernels that a report has: what they make slow is no longer
recomputed.

usage: check_profile.py DATA WORK
"""

import json
import re
import sys

from zero_test import Checks, Graph, check_refused, run_tool

BUDGET = "--memory-budget=104MB"


def work_of(row):
    """What a kernel is found again by."""
    return round(row["flops"] / row["launches"]), round(row["bytes"] / row["launches"])


def recomputed(report):
    """Seconds of recomputation in a step by work of kernels."""
    seconds = {}
    for row in report["profile"]["kernels"]:
        if row["recomputed"] > 0:
            seconds[work_of(row)] = seconds.get(work_of(row), 0) + row["recomputed"]
    return seconds


def compile_and_simulate(graph, *flags):
    executable = graph.work / "planned.zexe"
    text = graph.compile_to(executable, BUDGET, *flags)
    return executable, text, json.loads(run_tool("zero-sim", executable, "--json"))


def check_choice(checks, graph):
    executable, text, report = compile_and_simulate(graph)
    before = recomputed(report)
    checks.that(len(before) > 0, f"nothing is recomputed: {text}")
    slow = max(before, key=before.get)
    for row in report["profile"]["kernels"]:
        if work_of(row) == slow:
            row["seconds"] *= 1000
    path = graph.work / "report.json"
    path.write_text(json.dumps(report))
    executable, text, after = compile_and_simulate(graph, f"--profile={path}")
    known, all_kernels = map(int, re.search(r"measured times: (\d+) of (\d+) kernels", text).groups())
    checks.that(0 < known <= all_kernels, text)
    print(f"recomputed before {before}, after {recomputed(after)}")
    checks.that(slow not in recomputed(after), f"{slow} is recomputed: {recomputed(after)}")
    slower = json.loads(run_tool("zero-sim", executable, "--json", f"--profile={path}"))
    checks.that(slower["seconds"] > 2 * after["seconds"], f"{slower['seconds']}, {after['seconds']}")
    return path


def check_others(checks, data, graph, path):
    """A report of another program is a warning, one that is none an error."""
    mlp = Graph(data, "mlp", graph.work)
    empty = graph.work / "empty.json"
    empty.write_text(json.dumps({"profile": {"kernels": []}}))
    text = run_tool("zeroc", mlp.folder / "model.onnx", "--plan-only", BUDGET, f"--profile={empty}")
    checks.that("warning: --profile=" in text and "no kernel of this program" in text, text)
    model = graph.folder / "model.onnx"
    for words, content in ((["expected JSON"], "{"), (["expected a report of zero-run"], "{}"),
                           (["expected JSON"], "[" * 1000)):
        bad = graph.work / "bad.json"
        bad.write_text(content)
        check_refused(checks, content[:9], [str(bad), *words], "zeroc", model, "--plan-only", BUDGET,
                      f"--profile={bad}")
    check_refused(checks, "no file", ["cannot open"], "zeroc", model, "--plan-only", BUDGET,
                  f"--profile={graph.work / 'none.json'}")
    check_refused(checks, "no plan", ["has no effect with no --memory-budget"], "zeroc", model,
                  "--plan-only", f"--profile={path}")


def main():
    data, work = sys.argv[1:]
    checks, graph = Checks(), Graph(data, "gpt2-mini", work)
    path = check_choice(checks, graph)
    check_others(checks, data, graph, path)
    checks.finish()


if __name__ == "__main__":
    main()
