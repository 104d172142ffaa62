#!/usr/bin/env python3
"""Checks the factors of every operator: nodes compute on parts what they compute on the whole.

usage: check_factors.py [--bin FOLDER] [--only OP] [--most N]

The cases are those of check_ops.py. zero-test-divide-nodes replaces each node of a model, and of its
gradient, by nodes that compute on parts along all of its factors. Results and gradients have to be
those of the whole nodes, up to the order of sums.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
from check_ops import load_cases, spread
from harness import GradientGraph, error_of, forward_part, loss_model, run_group
from node_models import batches, combine, zero_run, zero_run_file
from zero_test import read_safetensors

TOLERANCE = 2e-6  # of sums of floats in another order
BATCH = 30


def run_tool(*command):
    """The output of a tool, and its error message or None."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    said = (done.stderr or f"exit {done.returncode}") if done.returncode else None
    return done.stdout, said


def divide(tools, source, program, phase, flags):
    """Writes `source` as it is after `phase`, with divided nodes, to `program`."""
    text, said = run_tool(tools / "zeroc", source, "--plan-only", f"--dump-after={phase}", *flags)
    if said:
        return said
    whole = program.with_name("whole.mlir")
    whole.write_text(text[:text.index("\n}\n") + 3])  # the plan follows
    return run_tool(tools / "zero-opt", whole, "--zero-test-divide-nodes", "-o", program)[1]


def run_both(tools, model, feeds, folder, phase, flags, later, output):
    """What zero-run writes for `model`, and with divided nodes; or an error message. `later` are the
    flags that a program after `phase` still needs."""
    whole, divided = folder / "whole.safetensors", folder / "divided.safetensors"
    source, program = folder / "model.onnx", folder / "divided.mlir"
    run = tools / "zero-run"
    said = (zero_run(run, model, feeds, folder, f"{output}={whole}", *flags)
            or divide(tools, source, program, phase, flags)
            or zero_run_file(run, program, feeds, folder, f"{output}={divided}", *later))
    return (None, said) if said else ((read_safetensors(whole), read_safetensors(divided)), None)


def forward(tools):
    def execute(group, folder):
        model, feeds = combine(group)
        flags = ["--forward-only"]
        return run_both(tools, model, feeds, folder, "recognise", flags, flags, "--save-outputs")
    return execute


def backward(tools):
    def execute(group, folder):
        model, feeds = loss_model(group)
        listed = folder / "trainable.txt"
        listed.write_text("".join(f"{part.name}/p\n" for part in group))
        return run_both(tools, model, feeds, folder, "differentiate", [f"--trainable={listed}"], [],
                        "--dump-gradients")
    return execute


def errors(parts, execute):
    """The largest difference of each part between both runs; infinity after an error."""
    for group in batches(parts, BATCH):
        for name, results in run_group(group, execute).items():
            own = [] if results is None else [key for key in results[0]
                                              if key.startswith(f"{name}/")]
            yield name, max((error_of(results[1][key], results[0][key]) for key in own),
                            default=np.inf)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="", help="folder of the tools, if not on the path")
    parser.add_argument("--only", help="check one operator")
    parser.add_argument("--most", type=int, help="check at most N cases of each operator")
    options = parser.parse_args()
    known = [case for case in load_cases(options.only) if not case.fails]
    cases = {f"case{i}": case for i, case in enumerate(spread(known, options.most))}
    graphs = [GradientGraph(case, name, case.reference(case.inputs)).part
              for name, case in cases.items() if case.grad]
    tools, failed = Path(options.bin), 0
    for parts, kind in (([forward_part(case, name) for name, case in cases.items()], forward),
                        (graphs, backward)):
        for name, error in errors(parts, kind(tools)):
            if error > TOLERANCE:
                failed += 1
                print(f"FAIL {kind.__name__} {error:.1e} {cases[name].label()}")
    print(f"{len(cases)} cases, {len(graphs)} with gradients, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
