#!/usr/bin/env python3
"""Checks operators through the compiler and the runtime, and prints a table.

usage: check_ops.py [--bin FOLDER] [--only OP] [--most N] [--verbose]

The cases are in the cases_*.py files of this directory, and harness.py explains how they are
checked. Every operator of the table that has a gradient, or is one, needs a case.
"""

import argparse
import collections
import importlib
import os
import subprocess
import sys
from pathlib import Path

from harness import forward_errors, gradient_errors, refusal


# The results of these operators depend on no operand (test/execute/random.test).
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike"}


def load_cases(only):
    cases = []
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        cases += importlib.import_module(path.stem).cases()
    cases = [case for case in cases if only in (None, case.op)]
    for case in cases:
        if case.grad and not case.fails and not case.trains():
            case.grad = []
    return cases


def spread(cases, most):
    """At most `most` cases of each operator, if that is given, and all that must be refused. Those
    that are next to each other are alike, so they are taken at equal distances."""
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case.name()].append(case)
    kept = [case for case in cases if case.fails]
    for group in groups.values():
        count = min(most or len(group), len(group))
        last = len(group) - 1
        kept += [group[index * last // max(count - 1, 1)] for index in range(count)]
    kept = set(map(id, kept))
    return [case for case in cases if id(case) in kept]


def operators(tool):
    """The operators of models that the compiler knows: names, and whether it has a gradient. Those
    of ai.onnx.preview.training update or differentiate; check_training_ops.py has their cases."""
    table = subprocess.run([tool, "--list-operators"], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in table.stdout.splitlines()]
    return {row[1] if row[0] == "ai.onnx" else f"{row[0]}.{row[1]}": row[4] in ("yes", "expanded")
            for row in rows if row[0] not in ("zero", "ai.onnx.preview.training")}


def uncovered(tool, cases, graded):
    """What no case checks. Operators that are gradients are not differentiated again."""
    known = operators(tool)
    gradients = {name for name in known if "Grad" in name}
    for op in sorted(gradients - {case.name() for case in cases}):
        yield f"{op} has no case"
    tested = {case.name() for case in graded} | RANDOM | gradients
    for op in sorted(name for name, has_gradient in known.items() if has_gradient):
        if op not in tested:
            yield f"{op} has a gradient but no case that checks it"


def report(rows):
    print(f"{'operator':52}{'cases':>6}{'failed':>8}{'result':>10}{'gradients':>11}{'gradient':>10}")
    for op, (count, failed, forward, gradients, backward) in sorted(rows.items()):
        print(f"{op:52}{count:6}{failed:8}{forward:10.1e}{gradients:11}{backward:10.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="", help="folder of the tools, if not on the path")
    parser.add_argument("--only", help="check one operator")
    parser.add_argument("--most", type=int, help="check at most N cases of each operator")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    options = parser.parse_args()
    run = os.path.join(options.bin, "zero-run")
    cases = spread(load_cases(options.only), options.most)
    working = [case for case in cases if not case.fails]
    graded = [case for case in working if case.grad]
    forward = dict(zip(map(id, working), forward_errors(run, working)))
    backward = dict(zip(map(id, graded), gradient_errors(run, graded)))
    rows, failures = {}, 0
    for case in cases:
        if case.fails:
            result, gradient, good = 0.0, 0.0, case.fails in refusal(run, case)
        else:
            result, gradient = forward[id(case)], backward.get(id(case), 0.0)
            good = result <= case.tol and gradient <= case.grad_tol
        failures += not good
        if options.verbose or not good:
            print(f"{'ok  ' if good else 'FAIL'} {result:.1e} {gradient:.1e} {case.label()}")
        row = rows.setdefault(case.name(), [0, 0, 0.0, 0, 0.0])
        row[0] += 1
        row[1] += not good
        row[2] = max(row[2], result)
        row[3] += len(case.grad)
        row[4] = max(row[4], gradient)
    report(rows)
    if not options.only:
        for missing in uncovered(os.path.join(options.bin, "zero-translate"), cases, graded):
            failures += 1
            print(f"FAIL {missing}")
    print(f"{len(cases)} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
