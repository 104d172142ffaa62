"""Event files of --log-dir have what --log says, also of a run that is resumed. With the name of a
file, TensorBoard reads them, too.

usage: check_event_files.py DATA WORK [PYTHON]

PYTHON has the package tensorboard.
"""

import json
import shutil
import subprocess
import sys
import time

import numpy as np
from events import events
from zero_test import Checks, Graph, run_tool

STEPS, SAVED = 6, 4
READ = """
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
read = EventAccumulator(sys.argv[1])
read.Reload()
for tag in read.Tags()["scalars"]:
    print(tag, *(f"{each.step}:{each.value!r}" for each in read.Scalars(tag)))
"""


def close(left, right):
    return left == np.float32(right)


def check_file(checks, path, lines, first):
    """One event for each line of the log from step `first` on, in order."""
    begin, *rest = events(path)
    checks.that(begin["version"] == b"brain.Event:2", f"{path}: {begin}")
    if first:
        start = rest.pop(0)
        checks.that((start["step"], start["status"]) == (first, 1), f"{path}: {start}")
    expected = [line for line in lines if line["step"] >= first]
    checks.that(len(rest) == len(expected), f"{path}: {len(rest)} events of {len(expected)} lines")
    for event, line in zip(rest, expected):
        values = event["values"]
        step = line["step"] - ("eval_loss" in line)  # an evaluation is at the step before it
        checks.that(event.get("step", 0) == step and abs(event["wall_time"] - time.time()) < 600,
                    f"{path}: {event}, {line}")
        if "eval_loss" in line:
            checks.that(values.keys() == {"eval/loss"} and close(values["eval/loss"], line["eval_loss"]),
                        f"{path}: {values}, {line}")
            continue
        checks.that(abs(line["time"] - event["wall_time"]) < 1, f"{path}: {event}, {line}")
        for name in ("loss", "gradient_norm", "learning_rate"):
            checks.that(close(values[f"train/{name}"], line[name]), f"{path}: {values}, {line}")
        checks.that(close(values["train/seconds_per_step"], line["seconds"]) and
                    close(values["train/samples_per_second"], line["samples_per_second"]),
                    f"{path}: {values}, {line}")


def check_board(checks, python, folder, lines):
    """TensorBoard shows each step once."""
    done = subprocess.run([python, "-c", READ, folder], capture_output=True, text=True, check=True)
    shown = {tag: [item.split(":") for item in items]
             for tag, *items in map(str.split, done.stdout.splitlines())}
    for tag, key in (("train/loss", "loss"), ("eval/loss", "eval_loss")):
        expected = [(line["step"] - (key == "eval_loss"), line[key]) for line in lines if key in line]
        got = [(int(step), float(value)) for step, value in shown[tag]]
        checks.that([step for step, _ in got] == [step for step, _ in expected] and
                    all(close(value, wanted) for (_, value), (_, wanted) in zip(got, expected)),
                    f"TensorBoard shows {tag}: {got}, expected {expected}")


def main():
    data, work, *python = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    executable = graph.compile(2, 2, "--optimizer=adamw", "--lr=1e-3", "--clip-norm=1",
                               "--lr-schedule=cosine", "--total-steps=10")
    folder, log, state = graph.work / "board", graph.work / "log.jsonl", graph.work / "state"
    run = ["zero-run", executable, graph.data_flag, graph.data_flag.replace("--data", "--eval-data"),
           "--eval-every=2", "--quiet", f"--log-dir={folder}", f"--log={log}", "--log-times"]
    run_tool(*run, f"--steps={STEPS}", "--save-every=2", f"--save-state={state}")
    first, = folder.iterdir()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    check_file(checks, first, lines, 0)
    run_tool(*run, f"--steps={STEPS + 2}", f"--resume={state}/step-{SAVED:08}")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    second, = set(folder.iterdir()) - {first}
    check_file(checks, second, [line for line in lines if (line["step"], "loss" in line) != (SAVED, False)],
               SAVED)
    steps = [line["step"] for line in lines if "loss" in line]
    checks.that(steps == list(range(STEPS + 2)), f"the log has steps {steps}")
    if python:
        check_board(checks, python[0], folder, lines)
    checks.finish()


if __name__ == "__main__":
    main()
