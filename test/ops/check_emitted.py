#!/usr/bin/env python3
"""Checks the gradients of operators in graphs that zeroc --emit-onnx writes, and prints a table.

usage: check_emitted.py [--bin FOLDER] [--only OP] [--most N] [--verbose]

The cases are those of check_ops.py. onnx.reference runs the emitted step with a learning rate of 1,
so that a gradient is the difference of a parameter and its next value; onnxruntime runs what
onnx.reference cannot, such as the indices of MaxPool. The limit is that of check_ops.py, but at
least the rounding of this difference.
"""

import argparse
import dataclasses
import functools
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from check_ops import load_cases, spread
from onnx.reference import ReferenceEvaluator

from harness import gradient_errors

ROUNDING = 1e-5
TIMEOUT = 300  # seconds of one compilation

# Operators that the emitter refuses: their gradients are loops over steps or places.
REFUSED = {"GRU", "GridSample", "LSTM", "RNN"}


def refused(case):
    """Whether the gradient of a case has no form in plain ONNX operators."""
    # A gradient of a product of several elements is a running product.
    return case.op in REFUSED or case.op in {"CumProd", "ReduceProd"}


def run_reference(path, names, feeds):
    with np.errstate(all="ignore"):  # some cases contain infinities and NaN
        return ReferenceEvaluator(str(path)).run(names, feeds)


def run_onnxruntime(path, names, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options).run(names, feeds)


def emitted_gradients(evaluate, tool, model, feeds, listed, folder):
    path, out = folder / "model.onnx", folder / "step.onnx"
    path.write_bytes(model.SerializeToString())
    command = [tool, path, f"--emit-onnx={out}", f"--trainable={listed}", "--optimizer=sgd",
               "--lr=1"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode:
        return None, done.stderr or f"exit {done.returncode}"
    step = onnx.load(out)
    try:
        onnx.checker.check_model(step, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return None, str(error)
    initial = {t.name: onnx.numpy_helper.to_array(t) for t in step.graph.initializer}
    inputs = {i.name for i in step.graph.input}
    given = {name: initial[name] for name in inputs & initial.keys()}
    given |= {name: value for name, value in feeds.items() if name in inputs}
    names = [o.name for o in step.graph.output]
    try:
        results = dict(zip(names, evaluate(out, names, given)))
    except Exception as error:  # of numpy, or onnxruntime's own
        return None, f"{evaluate.__name__}: {error}"
    return {name.removesuffix(".new"): given[name.removesuffix(".new")] - value
            for name, value in results.items() if name.endswith(".new")}, None


def is_good(case, error):
    return error <= max(case.grad_tol, ROUNDING)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="", help="folder of the tools, if not on the path")
    parser.add_argument("--only", help="check one operator")
    parser.add_argument("--most", type=int, help="check at most N cases of each operator")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    options = parser.parse_args()
    tool = os.path.join(options.bin, "zeroc")
    cases = [case for case in load_cases(options.only) if case.grad and not case.fails]
    emitted = spread([case for case in cases if not refused(case)], options.most)
    errors = {}
    for evaluate in (run_reference, run_onnxruntime):
        left = [case for case in emitted if not is_good(case, errors.get(id(case), np.inf))]
        # onnxruntime has few convolutions and scatters in float64.
        single = evaluate is run_onnxruntime
        given = [dataclasses.replace(case, single=True) for case in left] if single else left
        found = gradient_errors(tool, given, functools.partial(emitted_gradients, evaluate))
        errors |= dict(zip(map(id, left), found))
    failures = 0
    for case in emitted:
        good = is_good(case, errors[id(case)])
        failures += not good
        if options.verbose or not good:
            print(f"{'ok  ' if good else 'FAIL'} {errors[id(case)]:.1e} {case.label()}")
    print(f"{len({case.op for case in emitted})} operators, {len(emitted)} cases, "
          f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
