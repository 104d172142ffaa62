"""The page of a run has the figures of its log, also of a run that is resumed, killed or fails, and
--progress=json prints them.

usage: check_run_page.py DATA WORK
"""

import json
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
from page_test import data_of
from zero_test import Checks, Graph, run_tool

STEPS, SAVED = 6, 4
FIGURES = {"loss", "gradient_norm", "learning_rate", "samples_per_second"}


def read(page):
    return json.loads(data_of(page.read_text()))


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def check_figures(checks, page, log):
    """A point for each step of the log, and a pair for each evaluation."""
    steps = [line for line in log if "loss" in line]
    checks.that(set(page["names"]) == FIGURES, f"names: {page['names']}")
    checks.that([point[0] for point in page["points"]] == [line["step"] for line in steps],
                f"steps of points: {page['points']}")
    for point, line in zip(page["points"], steps):
        values = dict(zip(page["names"], point[1:]))
        checks.that(all(values[name] == line[name] for name in FIGURES - {"samples_per_second"}),
                    f"{values}, {line}")
    evaluations = [[line["step"], line["eval_loss"]] for line in log if "eval_loss" in line]
    checks.that(page["evaluations"] == evaluations, f"{page['evaluations']}, {evaluations}")


def check_progress(checks, lines, log, first, steps):
    """Standard output has what the log says, between the beginning and the end."""
    begin, *between, end = lines
    checks.that((begin["event"], begin["step"], begin["steps"]) == ("begin", first, steps), begin)
    checks.that((end["event"], end["step"], end["ending"]) == ("end", steps, "complete"), end)
    expected = [line for line in log if line["step"] >= first + ("eval_loss" in line)]
    checks.that(len(between) == len(expected), f"{len(between)} lines of {len(expected)}")
    for line, logged in zip(between, expected):
        kind = "step" if "loss" in logged else "evaluation"
        same = all(line[name] == value for name, value in logged.items())
        checks.that(line["event"] == kind and same, f"{line}, {logged}")
    rates = [line for line in between if line["event"] == "step"]
    checks.that(all(line["seconds_left"] >= 0 and line["samples_per_second"] > 0 for line in rates)
                and rates[-1]["seconds_left"] == 0, rates[-1])


def kill_between_steps(page, *command):
    """Ends a run once its page shows a step."""
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL) as run:
        while not page.exists() or not read(page)["done"]:  # each time the file is complete
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    executable = graph.compile(2, 2, "--optimizer=adamw", "--lr=1e-3", "--clip-norm=1",
                               "--lr-schedule=cosine", "--total-steps=10")
    page, log, state = graph.work / "run.html", graph.work / "log.jsonl", graph.work / "state"
    report = graph.work / "report.json"
    run = ["zero-run", executable, graph.data_flag, graph.data_flag.replace("--data", "--eval-data"),
           "--eval-every=2", f"--page={page}", f"--log={log}", "--progress=json"]

    def start(*flags):
        done = subprocess.run([str(word) for word in (*run, *flags)], capture_output=True,
                              text=True, check=True)
        return lines_of(done.stdout), lines_of(log.read_text()), done.stderr

    printed, logged, said = start(f"--steps={STEPS}", "--save-every=2", f"--save-state={state}",
                                  f"--report-json={report}")
    check_progress(checks, printed, logged, 0, STEPS)
    shown = read(page)
    check_figures(checks, shown, logged)
    checks.that((shown["done"], shown["steps"], shown["ending"]) == (STEPS, STEPS, "complete"), shown)
    peak = json.loads(report.read_text())["memory"]["device"]["peak"]
    checks.that([tier["peak"] for tier in shown["memory"]] == [peak], shown["memory"])
    checks.that(0 < shown["process_used"] <= shown["process_planned"], "memory of the process")
    warnings = [line.split("warning: ")[1] for line in said.splitlines() if "warning: " in line]
    checks.that(warnings and [text for _, text in shown["warnings"]] == warnings, shown["warnings"])

    kill_between_steps(graph.work / "killed.html", *run[:4], "--steps=100000",
                       f"--page={graph.work / 'killed.html'}", "--quiet")
    killed = read(graph.work / "killed.html")
    checks.that(killed["ending"] == "" and len(killed["points"]) == killed["done"], killed)

    printed, logged, _ = start(f"--steps={STEPS + 2}", f"--resume={state}/step-{SAVED:08}")
    check_progress(checks, printed, logged, SAVED, STEPS + 2)
    check_figures(checks, read(page), logged)

    failed = subprocess.run([*map(str, run[:5]), f"--page={page}", "--lr=1e38", "--steps=5",
                             "--quiet"], capture_output=True, text=True)
    shown = read(page)
    checks.that(failed.returncode == 1 and shown["ending"] == "failed"
                and failed.stderr.strip().endswith(shown["error"].strip()) and shown["error"],
                f"{failed.returncode}, {failed.stderr}, {shown['error']}")

    run_tool(*run[:4], f"--page={graph.work / 'long.html'}", "--steps=5000", "--quiet")
    shown = read(graph.work / "long.html")
    points = [point[0] for point in shown["points"]]
    checks.that(shown["steps_of_point"] == 4 and points == list(range(3, 5000, 4)),
                f"{shown['steps_of_point']}, {points[:3]} ... {points[-3:]}")
    losses = [point[1] for point in shown["points"]]
    checks.that(np.isfinite(losses).all() and losses[-1] < losses[0], "losses of a long run")
    checks.finish()


if __name__ == "__main__":
    main()
