#!/usr/bin/env python3
"""Checks ONNX's operators for training through the compiler and the runtime.

usage: check_training_ops.py ZERO_RUN

The optimizers are compared with onnx.reference, Gradient with formulas.
"""

import itertools
import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from node_models import Part, combine, zero_run
from zero_test import Checks, read_safetensors, relative

DOMAIN = "ai.onnx.preview.training"
OPSETS = (("", 18), (DOMAIN, 1))
LIMIT = {np.float32: 1e-6, np.float64: 1e-14}
# By operator: the number of its states, and the attributes of its cases.
OPTIMIZERS = {
    "Adagrad": (1, [{}, {"decay_factor": 0.25, "epsilon": 1e-3, "norm_coefficient": 0.125}]),
    "Adam": (2, [{}, {"alpha": 0.75, "beta": 0.875, "epsilon": 1e-3, "norm_coefficient": 0.125,
                      "norm_coefficient_post": 0.0625}]),
    "Momentum": (1, [{"alpha": 0.75, "beta": 0.5, "mode": mode, "norm_coefficient": norm}
                     for mode in ("standard", "nesterov") for norm in (0.0, 0.125)]),
}


def value_info(name, array):
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def part(name, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, name, [value_info(n, a) for n, a in inputs.items()],
                              [value_info(n, a) for n, a in outputs.items()])
    return Part(name, graph, OPSETS, feeds=inputs)


def optimizer_case(number, op, states, attributes, dtype, count, rate_shape):
    """An update of two tensors, and its results according to the reference. Of f64 it is one: the
    reference rounds several to f32."""
    random = np.random.default_rng(number)
    shapes = [(3,), (2, 4)] if dtype == np.float32 else [(2, 4)]
    inputs = {"R": np.full(rate_shape, 0.1, dtype), "T": np.array(count, np.int64)}
    for kind in ["X", "G", "V", "H"][:2 + states]:
        for index, shape in enumerate(shapes):
            value = random.standard_normal(shape).astype(dtype)
            inputs[f"{kind}{index}"] = value if kind in "XG" else np.abs(value)
    names = [n + "_new" for n in inputs if n[0] in "XVH"]
    node = helper.make_node(op, list(inputs), names, domain=DOMAIN, **attributes)
    outputs = {n: inputs[n.removesuffix("_new")] for n in names}
    made = part(f"{op}{number}", [node], inputs, outputs)
    model = helper.make_model(made.graph, opset_imports=[
        helper.make_opsetid(domain, version) for domain, version in OPSETS])
    # NumPy would compute in f32 with 0-d arrays of f32: the bias correction is one of f64.
    wide = {n: a.astype(np.float64) if a.dtype.kind == "f" else a for n, a in inputs.items()}
    expected = ReferenceEvaluator(model).run(None, wide)
    return made, {n: e.astype(dtype) for n, e in zip(names, expected)}


def optimizer_cases():
    numbers = itertools.count()
    for op, (states, cases) in OPTIMIZERS.items():
        for attributes in cases:
            for dtype, count, rate_shape in ((np.float32, 0, ()), (np.float32, 3, (1,)),
                                             (np.float64, 7, ())):
                yield optimizer_case(next(numbers), op, states, attributes, dtype, count,
                                     rate_shape)


def gradient(values, results, xs, y, zs=()):
    constant = {"zs": list(zs)} if zs else {}
    return helper.make_node("Gradient", values, results, domain=DOMAIN, xs=xs, y=y, **constant)


def gradient_cases():
    a, b = np.array([0.5, -1.5, 2.0], np.float32), np.array([1.0, 3.0, -2.0], np.float32)
    node = helper.make_node
    # y = a^3 in two products
    cube = [node("Mul", ["a", "a"], ["s"]), node("Mul", ["s", "a"], ["y"])]
    yield (part("sum", [node("Exp", ["a"], ["y"]), gradient(["a"], ["g"], ["a"], "y")],
                {"a": a}, {"g": a}), {"g": np.exp(a)})
    yield (part("second", cube + [gradient(["a"], ["g"], ["a"], "y"),
                                  gradient(["a"], ["h"], ["a"], "g")],
                {"a": a}, {"h": a}), {"h": 6 * a})
    yield (part("elsewhere", cube + [gradient(["b"], ["g"], ["a"], "y")],
                {"a": a, "b": b}, {"y": a, "g": a}), {"y": a ** 3, "g": 3 * b * b})
    # s and a as independent variables: y = s a
    yield (part("between", cube + [gradient(["s", "a"], ["gs", "ga"], ["s", "a"], "y")],
                {"a": a}, {"gs": a, "ga": a}), {"gs": a, "ga": a * a})
    yield (part("constant", cube + [gradient(["a", "s"], ["g"], ["a"], "y", zs=["s"])],
                {"a": a}, {"g": a}), {"g": a * a})
    yield (part("left_out", cube + [gradient(["s", "a"], ["", "ga"], ["s", "a"], "y")],
                {"a": a}, {"ga": a}), {"ga": a * a})
    yield (part("unused", cube + [gradient(["a", "b"], ["ga", "gb"], ["a", "b"], "y")],
                {"a": a, "b": b}, {"ga": a, "gb": a}), {"ga": 3 * a * a, "gb": 0 * a})


def main():
    tool, checks = sys.argv[1], Checks()
    cases = [*optimizer_cases(), *gradient_cases()]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        model, feeds = combine([made for made, _ in cases])
        error = zero_run(tool, model, feeds, folder, "--forward-only",
                         f"--save-outputs={folder / 'out.safetensors'}")
        if error:
            sys.exit(error)
        results = read_safetensors(folder / "out.safetensors")
    for made, expected in cases:
        for name, value in expected.items():
            got = results[f"{made.name}/{name}"]
            error = relative(got, value) if value.any() else np.abs(got).max()
            checks.that(got.dtype == value.dtype and error <= LIMIT[value.dtype.type],
                        f"{made.name}: {name} off by {error:.1e}")
    checks.finish()


if __name__ == "__main__":
    main()
