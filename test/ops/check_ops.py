#!/usr/bin/env python3
"""Checks operators by execution: results and gradients, as a table.

Every case of the cases_*.py files beside this one is a single ONNX node. All of
them are lowered in one module by zero-opt, compiled by upstream's passes and
clang, called through ctypes, and compared with onnx.reference in float64:
results directly, gradients with central differences of the reference.

usage: check_ops.py [--zero-opt PATH] [--llvm-bin DIR] [--only OP] [--verbose]
"""
import argparse
import ctypes
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

STEP = 1e-5  # of the central differences: their error is about 1e-10
PASSES = [
    "--one-shot-bufferize=bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map",
    "--buffer-results-to-out-params=modify-public-functions hoist-static-allocs",
    "--convert-linalg-to-loops",
    "--math-expand-ops",
    "--test-math-polynomial-approximation",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--convert-index-to-llvm",
    "--convert-math-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-ub-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm=use-bare-ptr-memref-call-conv=1",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]
MLIR_TYPES = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "i1"}


class Case:
    """One node: `inputs` are arrays or None; those in `constants` (by index) are
    part of the program. `grad` lists the inputs whose gradient is checked."""

    def __init__(self, op, inputs, attrs=None, opset=18, outputs=1, constants=(), grad=None,
                 tol=1e-6, grad_tol=1e-5, note="", domain="",
                 forward=None):
        self.op, self.inputs, self.attrs, self.opset = op, list(inputs), attrs or {}, opset
        self.outputs, self.constants, self.domain = outputs, set(constants), domain
        self.tol, self.grad_tol, self.note = tol, grad_tol, note
        self.forward = forward  # instead of onnx.reference's float64 implementation
        self.grad = [] if grad is None else list(grad)

    def label(self):
        shapes = ",".join("-" if x is None else "x".join(map(str, x.shape)) or "scalar"
                          for x in self.inputs)
        attrs = " ".join(f"{k}={v}" for k, v in self.attrs.items())
        return f"{self.op}-{self.opset} [{shapes}] {attrs} {self.note}".strip()

    def model(self):
        """The node in float64, all inputs given at run time."""
        names = ["" if x is None else f"x{i}" for i, x in enumerate(self.inputs)]
        outs = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.op, names, outs, **self.attrs)
        infos = [helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(
            wide(x).dtype), x.shape) for n, x in zip(names, self.inputs) if n]
        graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=o) for o in outs])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])

    def prepare(self):
        self.evaluator = ReferenceEvaluator(self.model())
        self.expected = self.reference(self.inputs)
        rng = np.random.default_rng(7)
        self.seeds = [rng.standard_normal(np.shape(y)) if y.dtype.kind == "f" else None
                      for y in self.expected]
        self.seeds = [None if s is None else s.astype(np.float32) for s in self.seeds]

    def reference(self, inputs):
        if self.forward:
            return [np.asarray(self.forward(*(wide(x) for x in inputs)))]
        feeds = {f"x{i}": wide(x) for i, x in enumerate(inputs) if x is not None}
        with np.errstate(all="ignore"):  # infinities and NaN are among the cases
            return [np.asarray(y) for y in self.evaluator.run(None, feeds)]

    def loss(self, inputs):
        return sum((y * s).sum() for y, s in zip(self.reference(inputs), self.seeds)
                   if s is not None)

    def numeric_gradient(self, index):
        inputs = [None if x is None else wide(x).copy() for x in self.inputs]
        x = inputs[index]
        grad = np.zeros(x.shape)
        for position in np.ndindex(x.shape):
            centre = x[position]
            x[position] = centre + STEP
            high = self.loss(inputs)
            x[position] = centre - STEP
            low = self.loss(inputs)
            x[position] = centre
            grad[position] = (high - low) / (2 * STEP)
        return grad


def wide(x):
    return np.asarray(x, np.float64) if x.dtype.kind == "f" else np.asarray(x)


def narrow_type(dtype):
    return "f32" if dtype.kind == "f" else MLIR_TYPES[str(dtype)]


def tensor_type(x):
    return "tensor<" + "".join(f"{d}x" for d in x.shape) + narrow_type(x.dtype) + ">"


def literal(x):
    def text(v):
        if isinstance(v, list):
            return "[" + ", ".join(map(text, v)) + "]"
        if isinstance(v, bool):
            return "true" if v else "false"
        if isinstance(v, float):
            return f"0x{np.float32(v).view(np.uint32):08X}"
        return str(v)
    if x.size == 0:
        return "dense<>"
    return f"dense<{text(x.tolist())}>"


def attribute(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool) or isinstance(value, (int, np.integer)):
        return f"{int(value)} : i64"
    if isinstance(value, float):
        return f"0x{np.float32(value).view(np.uint32):08X} : f32"
    if isinstance(value, np.ndarray):
        return f"{literal(value)} : {tensor_type(value)}"
    if value and isinstance(value[0], float):
        return f"array<f32: {', '.join(map(repr, value))}>"
    return "array<i64" + (": " if value else "") + ", ".join(map(str, value)) + ">"


def function(case, name):
    """The case as a function on tensors."""
    args, body, operands, types = [], [], [], []
    for i, x in enumerate(case.inputs):
        types.append("none" if x is None else tensor_type(x))
        operands.append(f"%x{i}")
        if x is None:
            body.append(f"  %x{i} = onnx.none")
        elif i in case.constants:
            body.append(f"  %x{i} = arith.constant {literal(x)} : {types[-1]}")
        else:
            args.append(f"%x{i}: {types[-1]}")
    results = [tensor_type(y) for y in case.expected]
    attrs = ", ".join(f"{k} = {attribute(v)}" for k, v in case.attrs.items())
    count = f":{len(results)}" if len(results) > 1 else ""
    values = [f"%y#{i}" for i in range(len(results))] if count else ["%y"]
    domain = f' domain "{case.domain}"' if case.domain else ""
    body.append(f'  %y{count} = onnx.node "{case.op}"({", ".join(operands)}) {{{attrs}}}{domain} '
                f'opset {case.opset} node "{name}" : ({", ".join(types)}) -> '
                f'({", ".join(results)})')
    body.append(f"  return {', '.join(values)} : {', '.join(results)}")
    return (f"func.func @{name}({', '.join(args)}) -> ({', '.join(results)}) {{\n"
            + "\n".join(body) + "\n}\n")


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr[:4000]}")
    return done.stdout


def compile_cases(cases, options, folder, gradients):
    """A shared library with one function for each case."""
    module = "module attributes {zero.local_loss_mean} {\n" + "".join(
        function(case, case.name) for case in cases) + "}\n"
    with open(os.path.join(folder, f"cases{gradients}.mlir"), "w") as file:
        file.write(module)
    passes = ["--zero-expand-nodes"] + ["--zero-test-gradient"] * gradients + ["--zero-lower-onnx"]
    text = run([options.zero_opt] + passes, module)
    # What the checks check is tested apart; here only numbers count.
    text = "".join(line + "\n" for line in text.splitlines() if "zero.check" not in line)
    text = run([os.path.join(options.llvm_bin, "mlir-opt")] + PASSES, text)
    text = run([os.path.join(options.llvm_bin, "mlir-translate"), "--mlir-to-llvmir"], text)
    path = os.path.join(folder, f"cases{gradients}.so")
    libraries = os.path.join(os.path.dirname(options.llvm_bin), "lib")
    run([os.path.join(options.llvm_bin, "clang"), "-O1", "-w", "-x", "ir", "-", "-shared", "-fPIC",
         "-march=native", f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lmlir_c_runner_utils", "-lm",
         "-o", path], text)
    return ctypes.CDLL(path)


def call(library, case, gradients):
    """Runs a case; its results, then the gradients of its float arguments."""
    def buffer(x, dtype=None):
        return np.ascontiguousarray(x, dtype or (np.float32 if x.dtype.kind == "f" else x.dtype))
    arguments = [buffer(x) for i, x in enumerate(case.inputs)
                 if x is not None and i not in case.constants]
    results = [np.empty(y.shape, np.float32 if y.dtype.kind == "f" else y.dtype)
               for y in case.expected]
    if gradients:
        arguments += [s for s in case.seeds if s is not None]
        results += [np.full(case.inputs[i].shape, np.nan, np.float32) for i in case.grad]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in arguments + results]
    getattr(library, case.name)(*pointers)
    return results


def error_of(got, expected):
    """Largest difference, relative to the largest expected magnitude, at least 1."""
    expected = np.asarray(expected)
    if got.shape != expected.shape:
        return np.inf
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(got, expected) else np.inf
    if not np.array_equal(np.isnan(got), np.isnan(expected)):
        return np.inf
    finite = np.isfinite(expected)
    if not np.array_equal(got[~finite & ~np.isnan(got)], expected[~finite & ~np.isnan(expected)]):
        return np.inf
    scale = max(1.0, np.abs(expected[finite]).max(initial=0))
    return float(np.abs(got[finite] - expected[finite]).max(initial=0) / scale)


def check(library, case, gradients):
    """(error of the results, error of the gradients)."""
    results = call(library, case, gradients)
    forward = max(error_of(r, e) for r, e in zip(results, case.expected))
    backward = [error_of(r, case.numeric_gradient(i))
                for r, i in zip(results[len(case.expected):], case.grad)]
    return forward, max(backward, default=None)


def load_cases(only):
    cases = []
    for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__), "cases_*.py"))):
        spec = importlib.util.spec_from_file_location("cases", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases += module.cases(Case)
    cases = [case for case in cases if only is None or case.op == only]
    for number, case in enumerate(cases):
        case.name = f"case{number}"
        case.prepare()
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--zero-opt", default="zero-opt")
    parser.add_argument("--llvm-bin", default="/usr/lib/llvm-22/bin")
    parser.add_argument("--only", help="check one operator")
    parser.add_argument("--keep", help="folder for the generated programs")
    parser.add_argument("--verbose", action="store_true", help="print every case, not each operator")
    options = parser.parse_args()
    cases = load_cases(options.only)
    rows, failures = {}, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        for gradients in (0, 1):
            group = [case for case in cases if bool(case.grad) == bool(gradients)]
            if not group:
                continue
            library = compile_cases(group, options, folder, gradients)
            for case in group:
                forward, backward = check(library, case, gradients)
                good = forward <= case.tol and (backward or 0) <= case.grad_tol
                failures += not good
                if options.verbose or not good:
                    shown = "-" if backward is None else f"{backward:.1e}"
                    print(f"{'ok  ' if good else 'FAIL'} {forward:.1e} {shown:>8} {case.label()}")
                row = rows.setdefault(case.op, [0, 0, 0.0, None])
                row[0] += 1
                row[1] += not good
                row[2] = max(row[2], forward)
                if backward is not None:
                    row[3] = max(row[3] or 0, backward)
    print(f"{'operator':28}{'cases':>6}{'failed':>8}{'result':>10}{'gradient':>10}")
    for op, (count, failed, forward, backward) in sorted(rows.items()):
        shown = "-" if backward is None else f"{backward:.1e}"
        print(f"{op:28}{count:6}{failed:8}{forward:10.1e}{shown:>10}")
    print(f"{len(cases) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
