"""Runs end before their last step by --max-time and --patience, in order, and go on from there.

usage: check_ending.py DATA WORK
"""

import json
import shutil
import subprocess
import sys

import numpy as np

from checkpoints import newest
from zero_test import Checks, Graph, check_refused, run_tool

MORE_TO_DO = 75
STEPS = 1_000_000


def losses(log):
    lines = map(json.loads, log.read_text().splitlines())
    return {line["step"]: line["loss"] for line in lines if "loss" in line}


def check_max_time(checks, graph, run, flags):
    """The job goes on with the same command until all is done."""
    label = f"max-time {' '.join(flags)}"
    state, log = graph.work / f"time{len(flags)}", graph.work / f"time{len(flags)}.jsonl"
    command = [*run, f"--save-state={state}", f"--resume={state}", "--resume-if-any", f"--log={log}",
               "--max-time=1s", *flags]
    done = []
    for _ in range(2):
        got = subprocess.run([*map(str, command), f"--steps={STEPS}"], capture_output=True, text=True,
                             check=False)
        checks.that(got.returncode == MORE_TO_DO and "zero-run: --max-time is over after" in got.stderr
                    and f"; go on with --resume={state}" in got.stderr,
                    f"{label}: code {got.returncode}, {got.stderr}")
        done.append(int(newest(state).name.removeprefix("step-")))
    checks.that(0 < done[0] < done[1], f"{label}: saved steps {done}")
    last = done[1] + 1
    run_tool(*run, f"--save-state={state}", f"--resume={state}", f"--log={log}", f"--steps={last}",
             "--max-time=1h30m", *flags)
    whole = graph.work / "whole.jsonl"
    run_tool(*run, f"--steps={last}", f"--log={whole}", *flags)
    checks.that(losses(log) == losses(whole), f"{label}: other losses than a run without limits")


def check_patience(checks, graph, run):
    """With a rate of 0 no evaluation is better than the first one."""
    report, log = graph.work / "patience.json", graph.work / "patience.jsonl"
    held = graph.data_flag.replace("--data", "--eval-data")
    flags = [held, "--eval-every=2", "--patience=3", f"--steps={STEPS}", f"--log={log}"]
    got = subprocess.run([*map(str, run), *map(str, flags), "--lr=0", f"--report-json={report}"],
                         capture_output=True, text=True, check=False)
    told = json.loads(report.read_text())
    checks.that(got.returncode == 0 and "zero-run: no better evaluation loss since" in got.stderr and
                "after step 2: ended after 8 of" in got.stderr, f"{got.returncode}: {got.stderr}")
    checks.that(told["ending"] == "patience" and told["steps"] == 8 and not told["interrupted"] and
                [each["step"] for each in told["evaluations"]] == [2, 4, 6, 8], f"report: {told}")
    run_tool(*run, held, "--eval-every=2", "--patience=3", "--steps=8", f"--report-json={report}")
    told = json.loads(report.read_text())
    checks.that(told["ending"] == "complete", f"an evaluation loss that falls ends nothing: {told}")


def best_of(state):
    """The step and the loss of the best checkpoint, and its newest generation."""
    step, loss = (state / "best" / "loss").read_text().split()
    return int(step), np.float32(loss), newest(state / "best").name


def check_best(checks, graph, run, flags):
    """The checkpoint of the least loss stays, also of a run that is resumed."""
    label = f"best {flags}"
    state, log = graph.work / f"best{len(flags)}", graph.work / "best.jsonl"
    held = graph.data_flag.replace("--data", "--eval-data")
    command = [*run, held, "--eval-every=2", "--keep-best", f"--save-state={state}", f"--log={log}",
               *flags]

    def expect(steps):
        evaluations = {line["step"]: line["eval_loss"]
                       for line in map(json.loads, log.read_text().splitlines()) if "eval_loss" in line}
        checks.that(max(evaluations) == steps, f"{label}: {evaluations}")
        least = min(evaluations, key=evaluations.get)
        checks.that(best_of(state) == (least, np.float32(evaluations[least]), f"step-{least:08}"),
                    f"{label}: {best_of(state)}, {evaluations}")

    run_tool(*command, "--steps=4")
    expect(4)
    # Steps at a rate of 10 make the loss worse: the best one stays.
    run_tool(*command, "--steps=8", f"--resume={state}", "--lr=10")
    expect(8)
    checks.that(best_of(state)[0] == 4, f"{label}: {best_of(state)}")
    run_tool(*run, "--steps=6", f"--resume={state}/best", *flags)
    if not flags:
        check_refused(checks, "best: from the beginning", ["is of a later step than 0"], *command,
                      "--steps=2")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    executable = graph.compile(2, 2, "--optimizer=adamw", "--lr=1e-3")
    run = ["zero-run", executable, graph.data_flag, "--quiet"]
    check_max_time(checks, graph, run, [])
    check_max_time(checks, graph, run, ["--processes=2"])
    check_patience(checks, graph, run)
    check_best(checks, graph, run, [])
    check_best(checks, graph, run, ["--processes=2"])
    for flags, expected in (
            (["--max-time=1x"], "'--max-time': expected a time such as 11h50m, 90s or 3600, got '1x'"),
            (["--max-time=0"], "'--max-time': expected a time such as 11h50m, 90s or 3600, got '0'"),
            (["--patience=2"], "--patience has no effect without --eval-every"),
            (["--keep-best"], "--keep-best has no effect without --save-state")):
        check_refused(checks, " ".join(flags), [expected], *run, *flags)
    checks.finish()


if __name__ == "__main__":
    main()
