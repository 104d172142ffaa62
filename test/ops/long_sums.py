#!/usr/bin/env python3
"""Reductions of many elements in float32 against float64: they must not lose digits.

usage: long_sums.py [--bin FOLDER] LOG2...

For each size, 2^LOG2 elements: each reduction of ONNX along rows, columns and other axes, and the
gradients of parameters that broadcast, of normalizations and of losses. An error is relative to the
sum of the magnitudes of the terms. It may be log2(n) / 2^24, see docs/reference/numbers.md. Half of
the elements are equal: the same rounding error, added in order, does not cancel.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from node_models import zero_run
from onnx import TensorProto, helper, numpy_helper
from zero_test import read_safetensors

CHANNELS = 4
node = helper.make_node


class Graph:
    """A model that reads x, a vector. Its results are checked."""

    def __init__(self, x):
        self.x, self.nodes, self.constants, self.outputs = x, [], {}, {}

    def add(self, op, inputs, output=None, **attrs):
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(node(op, inputs, [output], name=output, **attrs))
        return output

    def constant(self, array, name=None):
        name = name or f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def shaped(self, *shape):
        return self.add("Reshape", ["x", self.constant(np.array(shape))])

    def model(self, inputs, results):
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                               array.shape) for name, array in inputs.items()]
        graph = helper.make_graph(
            self.nodes, "sums", infos,
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()])
        return helper.make_model(graph, ir_version=10,
                                 opset_imports=[helper.make_opsetid("", 18)])


def run(tool, graph, inputs, results, *flags, trained=()):
    """What the tool writes to the file that `flags` name last."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "trained.txt").write_text("".join(f"{name}\n" for name in trained))
        more = [f"--trainable={folder / 'trained.txt'}"] if trained else []
        said = zero_run(tool, graph.model(inputs, results), inputs, folder, *more, *flags[:-1],
                        f"{flags[-1]}={folder / 'results.safetensors'}")
        if said:
            raise SystemExit(f"FAIL: {said}")
        return read_safetensors(folder / "results.safetensors")


def shapes(n):
    """Shapes of n elements, and the axes that are reduced."""
    image = 1 << (n.bit_length() - 1) // 2 - 3
    return {
        "all": ((n,), (0,)),
        "rows": ((8, n // 8), (1,)),
        "columns": ((n // 8, 8), (0,)),
        "middle": ((2, n // 32, 16), (1,)),
        "channels": ((n // (CHANNELS * image * image), CHANNELS, image, image), (0, 2, 3)),
        "short rows": ((n // 7 // CHANNELS, CHANNELS, 7), (0, 2)),
    }


# Of each operator: its terms, and what it makes of their sum for n terms.
REDUCTIONS = {
    "ReduceSum": (lambda x: x, lambda s, n: s),
    "ReduceMean": (lambda x: x, lambda s, n: s / n),
    "ReduceL1": (np.abs, lambda s, n: s),
    "ReduceL2": (np.square, lambda s, n: np.sqrt(s)),
    "ReduceSumSquare": (np.square, lambda s, n: s),
    "ReduceLogSum": (lambda x: x, lambda s, n: np.log(s)),
    "ReduceLogSumExp": (np.exp, lambda s, n: np.log(s)),
    "ReduceProd": (np.log, lambda s, n: np.exp(s)),
}


def reductions(tool, x):
    """The error of each operator and form."""
    graph, expected = Graph(x), {}
    # Factors near 1: no product is infinite.
    near = (1 + (x.astype(np.float64) - x.mean()) / x.size).astype(np.float32)
    for form, (shape, axes) in shapes(x.size).items():
        count = int(np.prod(shape))
        terms = {False: x[:count].reshape(shape), True: near[:count].reshape(shape)}
        for op, (before, after) in REDUCTIONS.items():
            factors = op == "ReduceProd"
            cut = graph.add("Slice", ["near" if factors else "x", *(
                graph.constant(np.array([v])) for v in (0, count, 0))])
            operand = graph.add("Reshape", [cut, graph.constant(np.array(shape))])
            name = f"{op} {form}"
            graph.add(op, [operand, graph.constant(np.array(axes))], name, keepdims=0)
            wide = before(terms[factors].astype(np.float64))
            expected[name] = after(wide.sum(axis=axes), count // wide.sum(axis=axes).size)
    got = run(tool, graph, {"x": x, "near": near}, expected, "--forward-only",
              "--save-outputs")
    # The error of a logarithm is the relative one of its operand.
    return {name: float(np.max(np.abs(got[name] - want) / np.maximum(np.abs(want), 1)))
            for name, want in expected.items()}


def gradients(tool, x):
    """The errors of a loss and of the gradients of its parameters, for each form of model."""
    wide = x.astype(np.float64)
    for build in (affine, scalar, normalized, batch, slopes, entropy):
        graph = Graph(x)
        inputs, expected = build(graph, wide)
        got = run(tool, graph, {"x": x, **inputs}, ["loss"], "--dump-gradients",
                  trained=expected)
        for name, terms in expected.items():
            error = np.abs(got[name].reshape(-1) - terms.sum(axis=1)) / np.abs(terms).sum(axis=1)
            yield f"{build.__name__} {name}", float(error.max())


def by_channel(values):
    """`values` [batch, channels, elements] as [channels, terms]."""
    return values.transpose(1, 0, 2).reshape(CHANNELS, -1)


def weighted(graph, y, shape):
    """Makes the loss the mean of y x."""
    graph.add("ReduceMean", [graph.add("Mul", [y, graph.shaped(*shape)])], "loss", keepdims=0)


def affine(graph, x):
    shape = (x.size // (CHANNELS * 256), CHANNELS, 256)
    w = graph.constant(np.linspace(0.5, 1, CHANNELS, dtype=np.float32).reshape(CHANNELS, 1), "w")
    b = graph.constant(np.linspace(0, 1, CHANNELS, dtype=np.float32).reshape(CHANNELS, 1), "b")
    y = graph.add("Add", [graph.add("Mul", [graph.shaped(*shape), w]), b])
    graph.add("ReduceMean", [graph.add("Mul", [y, y])], "loss", keepdims=0)
    z = x.reshape(shape)
    slope = 2 * (z * graph.constants["w"] + graph.constants["b"]) / x.size
    return {}, {"b": by_channel(slope), "w": by_channel(slope * z)}


def scalar(graph, x):
    w = graph.constant(np.full(2, 0.5, np.float32), "w")
    rows = graph.shaped(2, x.size // 2)
    error = graph.add("Sub", [graph.add("Mul", [rows, graph.add("Unsqueeze", [
        w, graph.constant(np.array([1]))])]), graph.constant(np.float32(2))])
    graph.add("ReduceMean", [graph.add("Mul", [error, error])], "loss", keepdims=0)
    z = x.reshape(2, -1)
    return {}, {"w": 2 * (z / 2 - 2) * z / x.size}


def normalized(graph, x):
    shape = (x.size // 64, 64)
    names = [graph.constant(np.full(64, v, np.float32), n) for n, v in (("scale", 1), ("bias", 0))]
    weighted(graph, graph.add("LayerNormalization", [graph.shaped(*shape), *names]), shape)
    z = x.reshape(shape)
    centred = z - z.mean(axis=1, keepdims=True)
    unit = centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
    return {}, {"bias": z.T / x.size, "scale": (unit * z).T / x.size}


def batch(graph, x):
    shape = (x.size // (CHANNELS * 64), CHANNELS, 64)
    names = [graph.constant(np.full(CHANNELS, v, np.float32), n)
             for n, v in (("scale", 1), ("bias", 0), ("mean", 0), ("var", 1))]
    graph.nodes.append(node("BatchNormalization", [graph.shaped(*shape), *names],
                            ["normal", "next_mean", "next_var"], training_mode=1))
    weighted(graph, "normal", shape)
    z = x.reshape(shape)
    centred = z - z.mean(axis=(0, 2), keepdims=True)
    unit = centred / np.sqrt(np.square(centred).mean(axis=(0, 2), keepdims=True) + 1e-5)
    return {}, {"bias": by_channel(z) / x.size, "scale": by_channel(unit * z) / x.size}


def slopes(graph, x):
    shape = (x.size // (CHANNELS * 64), CHANNELS, 64)
    slope = graph.constant(np.full((CHANNELS, 1), 0.25, np.float32), "slope")
    shifted = graph.add("Sub", [graph.shaped(*shape), graph.constant(np.float32(2))])
    weighted(graph, graph.add("PRelu", [shifted, slope]), shape)
    z = x.reshape(shape)
    return {}, {"slope": by_channel(np.minimum(z - 2, 0) * z / x.size)}


def entropy(graph, x):
    pixels = x.size // CHANNELS
    labels = np.arange(pixels).reshape(1, pixels) * 7 // 3 % CHANNELS
    b = graph.constant(np.linspace(0, 1, CHANNELS, dtype=np.float32).reshape(CHANNELS, 1), "b")
    scores = graph.add("Add", [graph.shaped(1, CHANNELS, pixels), b])
    graph.add("SoftmaxCrossEntropyLoss", [scores, "labels"], "loss")
    powers = np.exp(x.reshape(CHANNELS, pixels) + graph.constants["b"])
    powers /= powers.sum(axis=0)
    powers[labels[0], np.arange(pixels)] -= 1
    return {"labels": labels}, {"b": powers / pixels}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sizes", type=int, nargs="+", metavar="LOG2")
    parser.add_argument("--bin", default="", help="folder of the tools, if not on the path")
    options = parser.parse_args()
    tool = os.path.join(options.bin, "zero-run")
    failed = 0
    for size in options.sizes:
        x = np.random.default_rng(size).uniform(0.1, 1.1, 1 << size).astype(np.float32)
        x.reshape(-1, 2, 32)[:, 1] = 0.1
        errors = {**reductions(tool, x), **dict(gradients(tool, x))}
        bound = size / 2 ** 24
        wrong = [name for name, error in errors.items() if not error <= bound]
        for name in wrong:
            print(f"FAIL {errors[name]:.1e} of {bound:.1e}: {name}")
        print(f"2^{size}: {len(errors)} sums, largest error {max(errors.values()):.1e}, "
              f"{len(wrong)} failed")
        failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
