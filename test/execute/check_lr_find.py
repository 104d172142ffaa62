"""--lr-find raises the learning rate from step to step, suggests one at which the loss falls, and keeps
nothing; and schedules of parameter groups.

usage: check_lr_find.py DATA WORK
"""

import re
import shutil
import sys
from xml.etree import ElementTree

import numpy as np

from zero_test import Checks, Graph, check_refused, read_safetensors, run_tool

SVG = "{http://www.w3.org/2000/svg}"


def points_of(path):
    line, = ElementTree.parse(path).getroot().iter(f"{SVG}polyline")
    return [tuple(map(float, point.split(","))) for point in line.get("points").split()]


def check_suggestion(checks, graph, flags):
    """The rate of the steepest fall: training with it does better than with a tenth and ten times."""
    label = f"lr-find {flags}"
    executable = graph.compile(1, 2, "--optimizer=sgd", "--lr=1")
    picture, state = graph.work / "rates.svg", graph.work / "state"
    run = ["zero-run", executable, graph.data_flag, *flags]
    shutil.rmtree(state, ignore_errors=True)
    run_tool(*run, "--quiet", "--steps=2", f"--save-state={state}")
    before = {path: path.read_bytes() for path in sorted(state.rglob("*")) if path.is_file()}
    told = run_tool(*run, f"--resume={state}", f"--lr-find={picture}", "--lr-range=1e-4,1e3", "--steps=60")
    found = re.search(r"learning rate: try --lr=(\S+), where the loss falls most steeply; it is least at "
                      r"(\S+)\n", told)
    checks.that(found, f"{label}: {told[-500:]}")
    rate, least = float(found[1]), float(found[2])
    checks.that(1e-4 < rate < least < 1e3, f"{label}: {rate}, {least}")
    points = points_of(picture)
    checks.that(5 < len(points) < 60 and points == sorted(points), f"{label}: {len(points)} rates")
    after = {path: path.read_bytes() for path in sorted(state.rglob("*")) if path.is_file()}
    checks.that(before == after, f"{label}: the checkpoint has changed")
    again = run_tool(*run, f"--resume={state}", f"--lr-find={picture}", "--lr-range=1e-4,1e3", "--steps=60")
    checks.that(found[0] in again, f"{label}: another suggestion: {again[-500:]}")
    last = {}
    for factor in (0.1, 1):
        out = run_tool(*run, "--steps=10", f"--lr={rate * factor}")
        last[factor] = float(re.search(r"loss \S+ -> ([^,]+),", out)[1])
    checks.that(last[1] < last[0.1], f"{label}: {last} with {rate}")


def check_groups(checks, graph):
    """All parameters in a group with a schedule train as with that schedule for the program."""
    schedule = ["lr-schedule=linear", "warmup-steps=2", "total-steps=6", "min-lr-ratio=0.25"]
    weights = graph.work / "weights.safetensors"
    trained = {}
    for name, flags in (("program", [f"--{each}" for each in schedule]),
                        ("group", [f"--param-group=*:{':'.join(schedule)}"]),
                        ("half", [f"--param-group=fc1*:{':'.join(schedule)}"]), ("none", [])):
        executable = graph.compile(2, 2, "--optimizer=adamw", "--lr=1e-2", *flags)
        run_tool("zero-run", executable, graph.data_flag, "--quiet", "--steps=7", f"--save={weights}")
        trained[name] = read_safetensors(weights)
    same = lambda left, right: all(np.array_equal(trained[left][name], trained[right][name])
                                   for name in trained[left])
    checks.that(same("program", "group"), "a group of all parameters, and the program")
    checks.that(not same("program", "none") and not same("half", "none") and not same("half", "program"),
                "a schedule without effect")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    check_suggestion(checks, graph, [])
    check_suggestion(checks, graph, ["--processes=2"])
    check_groups(checks, graph)
    executable = graph.compile(0, 1)
    for flags, expected in (
            (["--save=w.safetensors"], "--lr-find tries learning rates and keeps nothing of its steps"),
            (["--lr=1"], "expected none of --lr, --save, --save-ema and --save-state"),
            (["--lr-range=1,1"], "expected two positive numbers LOW,HIGH in ascending order, got '1,1'")):
        check_refused(checks, " ".join(flags), [expected], "zero-run", executable, graph.data_flag,
                      f"--lr-find={graph.work}/no.svg", *flags)
    checks.finish()


if __name__ == "__main__":
    main()
