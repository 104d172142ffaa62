#!/usr/bin/env python3
"""Checks the second derivative of each operator that has a first one, and prints a table.

usage: check_second_derivatives.py [--bin FOLDER] [--only OP] [--listed] [--most N] [--verbose]

The cases are those of check_ops.py with a gradient, in float64. A model computes the gradient g of
a function of the results with a Gradient node, and with another one the gradient of the inner
product of g and a random direction. The latter is compared with central differences of g along the
direction. Differences of two step widths show how exact they are: the derivative has to be nearly
as close, and a case where they disagree is at a kink, where there is none.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from check_ops import load_cases, spread
from harness import BATCH, STEP, error_of, info, run_group, wide
from node_models import Part, batches, combine, zero_run
from onnx import TensorProto, helper
from zero_test import read_safetensors

DOMAIN = "ai.onnx.preview.training"
TOLERANCE = 2e-6

# Operators whose gradient is a loop over steps or places, which has no gradient.
REFUSED = {"LSTM", "GRU", "RNN", "GridSample"}
KINK = 0.01  # disagreement of differences from which there is no derivative


def refused(case):
    """A product of elements at the same place has no formula that is exact where some are zero."""
    return case.op in REFUSED or case.attrs.get("reduction") == "mul"


class Graph:
    """The nodes of one case. `number` cuts the operands from feeds."""

    def __init__(self, case, name, shift):
        self.case, self.nodes = case, []
        self.part = Part(name, None, (*case.opsets(), (DOMAIN, 1)))
        self.rng = np.random.default_rng(5)
        self.outputs = []
        for position, (n, x) in enumerate(zip(case.names(), case.inputs)):
            if n:
                self.operand(position, n, x, shift)
        self.nodes.extend(case.nodes(case.names()))

    def emit(self, op, inputs, output, **attrs):
        self.nodes.append(helper.make_node(op, inputs, [output], **attrs))
        return output

    def operand(self, position, name, x, shift):
        group = self.part.constants if position in self.case.constants else self.part.feeds
        is_single = x.dtype.kind == "f" and position in self.case.settings
        group[name] = x.astype(np.float32) if is_single else wide(x)
        if position in self.case.grad:
            group.pop(name)
            self.part.feeds[name] = wide(x.astype(np.float32)) + shift * direction(position, x)

    def function(self, results):
        """A scalar that is not linear in the results: the sum of weighted sines."""
        sums = []
        for index, y in results.items():
            self.part.constants[f"w{index}"] = self.rng.standard_normal(y.shape)
            wide_y = self.emit("Cast", [f"y{index}"], f"wide{index}", to=TensorProto.DOUBLE)
            sine = self.emit("Sin", [wide_y], f"sin{index}")
            product = self.emit("Mul", [sine, f"w{index}"], f"product{index}")
            sums.append(self.emit("ReduceSum", [product], f"sum{index}", keepdims=0))
        self.emit("Sum", sums, "value")

    def gradient(self, of, prefix):
        names = [f"x{i}" for i in self.case.grad]
        results = [f"{prefix}{i}" for i in self.case.grad]
        self.nodes.append(helper.make_node("Gradient", names, results, domain=DOMAIN, xs=names,
                                           y=of))
        self.outputs += [helper.make_tensor_value_info(
            f"{prefix}{i}", TensorProto.DOUBLE, self.case.inputs[i].shape) for i in self.case.grad]

    def inner_product(self):
        terms = []
        for i in self.case.grad:
            self.part.constants[f"c{i}"] = direction(i, self.case.inputs[i])
            product = self.emit("Mul", [f"g{i}", f"c{i}"], f"along{i}")
            terms.append(self.emit("ReduceSum", [product], f"term{i}", keepdims=0))
        self.emit("Sum", terms, "slope")

    def finish(self):
        self.part.graph = helper.make_graph(
            self.nodes, self.part.name, [info(n, x) for n, x in self.part.feeds.items()],
            self.outputs)
        return self.part


def direction(position, x):
    return np.random.default_rng(position).standard_normal(x.shape)


def parts_of(case, name):
    """Graphs with the second derivative, and with the gradient at both sides of the point, one step
    and two away from it."""
    results = dict(zip(case.results(), case.reference(case.inputs)))
    floats = {i: y for i, y in results.items() if y.dtype.kind == "f" and np.isfinite(y).all()}
    for steps in (0, 1, -1, 2, -2):
        graph = Graph(case, f"{name}_{steps}", steps * STEP)
        graph.function(floats)
        graph.gradient("value", "g")
        if not steps:
            graph.inner_product()
            graph.gradient("slope", "h")
        yield graph.finish()


def execute(tool):
    def run(group, folder):
        model, feeds = combine([part for triple in group for part in triple.parts])
        results = folder / "outputs.safetensors"
        said = zero_run(tool, model, feeds, folder, "--forward-only", f"--save-outputs={results}")
        return (None, said) if said else (read_safetensors(results), None)
    return run


class Triple:
    """What run_group and batches see as one part."""

    def __init__(self, case, name):
        self.parts, self.name, self.functions = list(parts_of(case, name)), name, []
        self.opsets = self.parts[0].opsets


def errors_in(case, name, outputs):
    """The error of the second derivative, and that of the differences."""
    if outputs is None:
        return np.inf, 0.0

    def values(prefix, steps):
        return np.concatenate([outputs[f"{name}_{steps}/{prefix}{i}"].ravel() for i in case.grad])

    near, far = ((values("g", n) - values("g", -n)) / (2 * n * STEP) for n in (1, 2))
    return error_of(values("h", 0), near), error_of(far, near)


def second_errors(tool, cases):
    triples = [Triple(case, f"case{i}") for i, case in enumerate(cases)]
    named = {triple.name: case for triple, case in zip(triples, cases)}
    errors = {}
    for group in batches(triples, BATCH):
        for name, outputs in run_group(group, execute(tool)).items():
            errors[name] = errors_in(named[name], name, outputs)
    return [errors[triple.name] for triple in triples]


def refusal(tool, case):
    with tempfile.TemporaryDirectory() as scratch:
        model, feeds = combine(Triple(case, "case").parts)
        return zero_run(tool, model, feeds, Path(scratch), "--forward-only") or ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="", help="folder of the tools, if not on the path")
    parser.add_argument("--only", help="check one operator")
    parser.add_argument("--listed", action="store_true", help="leave out generated cases")
    parser.add_argument("--most", type=int, help="check at most N cases of each operator")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    options = parser.parse_args()
    tool = os.path.join(options.bin, "zero-run")
    cases = [case for case in load_cases(options.only)
             if case.grad and not case.fails and not case.single
             and not (options.listed and case.note == "generated")]
    known = spread([case for case in cases if not refused(case)], options.most)
    rows, failures, kinks = {}, 0, 0
    for case, (error, inexact) in zip(known, second_errors(tool, known)):
        if inexact > KINK:
            kinks += 1
            continue
        good = error <= max(TOLERANCE, case.grad_tol, 2 * inexact)
        failures += not good
        if options.verbose or not good:
            print(f"{'ok  ' if good else 'FAIL'} {error:.1e} {inexact:.1e} {case.label()}")
        row = rows.setdefault(case.name(), [0, 0.0])
        row[:] = row[0] + 1, max(row[1], error)
    print(f"{'operator':52}{'cases':>6}{'second derivative':>20}")
    for op, (count, error) in sorted(rows.items()):
        print(f"{op:52}{count:6}{error:20.1e}")
    for case in {case.op: case for case in cases if refused(case)}.values():
        said = refusal(tool, case)
        good = "has no gradient" in said
        failures += not good
        print(f"{case.op:52}{'refused' if good else 'FAIL: ' + said[:200]:>26}")
    print(f"{kinks} cases at a kink")
    print(f"{len(known)} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
