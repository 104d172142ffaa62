#!/usr/bin/env python3
"""Random training graphs: compares gradients in float64 with central differences of onnx.reference.

usage: random_graphs.py COUNT [--seed SEED] [--elementwise] [--bin FOLDER] [--only NUMBER]

Graph N of a seed is the same on every machine. It has two to twenty nodes on one to three operands,
which all have gradients. Values are read several times, broadcast, split, joined and reduced, and
each of them contributes to the loss, so that every operand has several paths to it: an operator that
drops a gradient changes the sum of the others instead of being refused. Tanh bounds values that
could grow, so that no difference is lost in rounding.

With --elementwise, graphs have smooth elementwise nodes on 4096 and more elements, of which several
nodes read most, so that backward recomputes some from others. They are compared along random
directions, and must have the same bits with --recompute=none.
"""

import argparse
import os
import sys
from dataclasses import dataclass

import numpy as np
from onnx import helper, numpy_helper

from harness import Case, dumped_gradients, gradient_errors

TOLERANCE = 1e-6
LARGEST = 6.0  # of what a node reads
SMOOTH = ("Tanh", "Sigmoid", "Softplus", "Exp", "Sin", "Cos", "Neg", "Identity", "Relu", "Elu",
          "LeakyRelu", "Selu", "HardSigmoid", "HardSwish", "Mish", "Abs", "Atan",
          "Asinh", "ThresholdedRelu")
WITHOUT_KINKS = ("Tanh", "Sigmoid", "Softplus", "Exp", "Sin", "Cos", "Neg", "Elu", "Mish")


@dataclass
class Value:
    name: str
    shape: tuple
    bound: float  # of its magnitude


class Graph:
    """Adds random nodes. `values` are the values that nodes may read."""

    def __init__(self, rng):
        self.rng, self.nodes, self.values, self.inputs = rng, [], [], []
        rows, columns = (int(n) for n in rng.integers(1, 5, 2))
        shapes = [(rows, columns), (columns,), (columns, columns), (rows, 1), ()]
        for i in range(int(rng.integers(1, 4))):
            shape = shapes[int(rng.integers(0, len(shapes)))] if i else shapes[0]
            self.inputs.append(rng.uniform(-1.5, 1.5, shape))
            self.values.append(Value(f"x{i}", shape, 1.5))

    def pick(self, test=lambda value: True):
        """A random value that satisfies the condition, preferring later ones; None if there is
        none."""
        fit = [value for value in self.values if test(value)]
        weights = np.arange(1, len(fit) + 1)
        return fit[int(self.rng.choice(len(fit), p=weights / weights.sum()))] if fit else None

    def add(self, op, reads, shape, bound, **attrs):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [r if isinstance(r, str) else r.name for r in reads],
                                           [name], **attrs))
        self.values.append(Value(name, tuple(int(n) for n in shape), bound))
        if bound > LARGEST:
            self.add("Tanh", [self.values[-1]], shape, 1.0)
        return self.values[-1]

    def constant(self, array):
        name = f"c{len(self.nodes)}"
        self.nodes.append(helper.make_node("Constant", [], [name],
                                           value=numpy_helper.from_array(np.asarray(array), name)))
        return name

    def unary(self):
        x, op = self.pick(), str(self.rng.choice(SMOOTH))
        self.add(op, [x], x.shape, np.exp(x.bound) if op == "Exp" else x.bound + 1)

    def binary(self):
        def fits(value):
            try:
                return np.broadcast_shapes(x.shape, value.shape) is not None
            except ValueError:
                return False

        x = self.pick()
        y = self.pick(fits)
        shape, op = np.broadcast_shapes(x.shape, y.shape), str(self.rng.choice(
            ["Add", "Sub", "Mul", "Div", "Max", "Sum", "Pow"]))
        if op == "Pow":
            power = int(self.rng.integers(2, 4))
            self.add("Pow", [x, self.constant(float(power))], x.shape, x.bound ** power)
        elif op == "Div":
            square = self.add("Mul", [y, y], y.shape, y.bound ** 2)
            below = self.add("Add", [square, self.constant(1.0)], square.shape, square.bound + 1)
            # At least 1, or the minimum of that Tanh, which is more than 0.76.
            self.add("Div", [x, below], np.broadcast_shapes(x.shape, below.shape), x.bound / 0.76)
        else:
            self.add(op, [x, y], shape, x.bound * y.bound if op == "Mul" else x.bound + y.bound)

    def product(self):
        x = self.pick(lambda value: len(value.shape) == 2)
        y = x and self.pick(lambda value: len(value.shape) == 2 and value.shape[0] == x.shape[1])
        if not y:
            return self.transpose()
        return self.add("MatMul", [x, y], (x.shape[0], y.shape[1]),
                        x.bound * y.bound * x.shape[1])

    def transpose(self):
        if x := self.pick(lambda value: len(value.shape) == 2):
            self.add("Transpose", [x], x.shape[::-1], x.bound)

    def reduce(self):
        if x := self.pick(lambda value: len(value.shape) > 0):
            axis, keep = int(self.rng.integers(0, len(x.shape))), int(self.rng.integers(0, 2))
            op = str(self.rng.choice(["ReduceSum", "ReduceMean", "ReduceSumSquare"]))
            shape = [n for i, n in enumerate(x.shape) if keep or i != axis]
            if keep:
                shape[axis] = 1
            size = 1 if op == "ReduceMean" else x.shape[axis]
            self.add(op, [x, self.constant(np.array([axis]))], shape,
                     size * x.bound ** (2 if op.endswith("Square") else 1), keepdims=keep)

    def row(self):
        if x := self.pick(lambda value: len(value.shape) > 0):
            op = str(self.rng.choice(["Softmax", "LogSoftmax", "CumSum"]))
            if op == "CumSum":
                self.add(op, [x, self.constant(np.array(len(x.shape) - 1))], x.shape,
                         x.bound * x.shape[-1])
            else:
                self.add(op, [x], x.shape, 2 * x.bound + 2, axis=-1)

    def join(self):
        x = self.pick(lambda value: len(value.shape) > 0)
        if not x:
            return
        rest = self.pick(lambda value: value.shape[1:] == x.shape[1:] and
                         len(value.shape) == len(x.shape))
        joined = self.add("Concat", [x, rest, x], (2 * x.shape[0] + rest.shape[0], *x.shape[1:]),
                          max(x.bound, rest.bound), axis=0)
        rows = self.rng.integers(0, joined.shape[0], int(self.rng.integers(1, 5)))
        self.add("Gather", [joined, self.constant(rows)], (len(rows), *joined.shape[1:]),
                 joined.bound, axis=0)

    def indices(self, low, high, shape):
        return self.constant(self.rng.integers(low, high, shape).astype(np.int64))

    def matrix(self):
        return self.pick(lambda value: len(value.shape) == 2)

    def part(self):
        """Rows of a matrix: cut with a stride, padded or repeated."""
        if not (x := self.matrix()):
            return
        rows, columns = x.shape
        kind = int(self.rng.integers(0, 4))
        if kind == 0:
            begin, step = int(self.rng.integers(0, rows)), int(self.rng.integers(1, 3))
            at = [self.constant(np.array([n])) for n in (begin, rows, 0, step)]
            self.add("Slice", [x, *at], (len(range(begin, rows, step)), columns), x.bound)
        elif kind == 1:
            mode = str(self.rng.choice(["constant", "edge", "wrap"]))
            pads = self.constant(np.array([0, 1, 1, 0]))
            self.add("Pad", [x, pads], (rows + 1, columns + 1), x.bound, mode=mode)
        elif kind == 2:
            self.add("Tile", [x, self.constant(np.array([2, 1]))], (2 * rows, columns), x.bound)
        else:
            self.add("Trilu", [x], x.shape, x.bound, upper=int(self.rng.integers(0, 2)))

    def choose(self):
        """Where, Clip, and sums of what two branches share."""
        if not (x := self.matrix()):
            return
        y = self.pick(lambda value: value.shape == x.shape)
        above = self.constant(self.rng.integers(0, 2, x.shape).astype(bool))
        low, high = self.constant(-0.7), self.constant(0.9)
        self.add("Where", [above, x, y], x.shape, max(x.bound, y.bound))
        self.add("Clip", [self.values[-1], low, high], x.shape, 1.0)

    def extreme(self):
        if x := self.matrix():
            op = str(self.rng.choice(["ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp",
                                      "ReduceProd", "ReduceL1"]))
            if op == "ReduceL2":  # whose root has no derivative at 0
                x = self.add("Add", [x, self.constant(9.0)], x.shape, LARGEST)
            if op == "ReduceProd":
                x = self.add("Tanh", [x], x.shape, 1.0)
            bound = {"ReduceL2": 9 + LARGEST, "ReduceL1": x.bound}.get(op, x.bound + 2)
            self.add(op, [x, self.constant(np.array([1]))], (x.shape[0], 1),
                     bound * x.shape[1], keepdims=1)

    def scatter(self):
        """Elements taken and put at other positions."""
        if not (x := self.matrix()):
            return
        rows, columns = x.shape
        count = int(self.rng.integers(1, 4))
        at = self.indices(-rows, rows, (count, columns))
        taken = self.add("GatherElements", [x, at], (count, columns), x.bound, axis=0)
        to = self.indices(0, rows, (count, columns))
        self.add("ScatterElements", [x, to, taken], x.shape, x.bound * (count + 1), axis=0,
                 reduction="add")
        pairs = self.constant(np.stack([self.rng.integers(0, rows, count),
                                        self.rng.integers(0, columns, count)], axis=1))
        few = self.add("GatherND", [x, pairs], (count,), x.bound)
        self.add("ScatterND", [x, pairs, few], x.shape, x.bound * (count + 1), reduction="add")

    def normalize(self):
        if (x := self.matrix()) and x.shape[1] > 1:
            scale = self.pick(lambda value: value.shape == x.shape[1:])
            if scale:
                # Far from zero variance, whose root has no derivative.
                self.add("LayerNormalization", [x, scale], x.shape,
                         scale.bound * x.shape[1] ** 0.5, epsilon=0.5)

    def largest(self):
        if (x := self.matrix()) and x.shape[1] > 1:
            name = f"v{len(self.nodes)}"
            self.nodes.append(helper.make_node("TopK", [x.name, self.constant(np.array([1]))],
                                               [f"{name}_values", f"{name}_at"]))
            self.values.append(Value(f"{name}_values", (x.shape[0], 1), x.bound))

    def parts(self):
        if (x := self.matrix()) and x.shape[1] > 1:
            sizes = (1, x.shape[1] - 1)
            name = f"v{len(self.nodes)}"
            self.nodes.append(helper.make_node(
                "Split", [x.name, self.constant(np.array(sizes))], [f"{name}_0", f"{name}_1"],
                axis=1))
            # The last of them may be the only one that the rest of the graph reads.
            self.values += [Value(f"{name}_{i}", (x.shape[0], n), x.bound)
                            for i, n in enumerate(sizes)]

    def image(self):
        """A matrix as an image of one channel: a convolution and a pooling."""
        if not (x := self.matrix()) or min(x.shape) < 3:
            return
        shape = (1, 1, *x.shape)
        picture = self.add("Reshape", [x, self.constant(np.array(shape))], shape, x.bound)
        kernel = self.constant(self.rng.uniform(-1, 1, (2, 1, 2, 2)))
        rows, columns = (n - 1 for n in x.shape)
        folded = self.add("Conv", [picture, kernel], (1, 2, rows, columns), 4 * x.bound)
        op = str(self.rng.choice(["AveragePool", "MaxPool"]))
        pooled = self.add(op, [folded], (1, 2, rows - 1, columns - 1), folded.bound,
                          kernel_shape=[2, 2])
        shape = (2 * rows - 2, columns - 1)
        self.add("Reshape", [pooled, self.constant(np.array(shape))], shape, pooled.bound)

    def flat(self):
        """A value without a derivative multiplies one with a derivative."""
        if x := self.matrix():
            sign = self.add("Sign", [x], x.shape, 1.0)
            self.add("Mul", [x, sign], x.shape, x.bound)

    def all_before(self):
        scalars = [self.add("ReduceMean", [value], (), value.bound, keepdims=0)
                   for value in self.values[-6:]]
        self.add("Sum", scalars, (), sum(s.bound for s in scalars))

    def grow(self):
        steps = [self.unary, self.unary, self.binary, self.binary, self.product, self.transpose,
                 self.reduce, self.row, self.join, self.all_before, self.part, self.choose,
                 self.extreme, self.scatter, self.normalize, self.largest, self.parts, self.image,
                 self.flat]
        steps[int(self.rng.integers(0, len(steps)))]()


class ElementwiseGraph(Graph):
    """Elementwise nodes on large tensors and on those that broadcast to them."""

    def __init__(self, rng):
        self.rng, self.nodes, self.values, self.inputs = rng, [], [], []
        rows, columns = int(rng.integers(64, 81)), int(rng.integers(64, 81))
        shapes = [(rows, columns), (1,), (columns,), (rows, 1), (1, 1), (rows, columns)]
        for i in range(int(rng.integers(2, 4))):
            shape = shapes[int(rng.integers(1, len(shapes)))] if i else shapes[0]
            self.inputs.append(rng.uniform(-1.5, 1.5, shape))
            self.values.append(Value(f"x{i}", shape, 1.5))

    def pick(self, test=lambda value: True):
        fit = [value for value in self.values if test(value)]
        return fit[int(self.rng.integers(0, len(fit)))]

    def unary(self):
        x, op = self.pick(), str(self.rng.choice(WITHOUT_KINKS))
        self.add(op, [x], x.shape, np.exp(x.bound) if op == "Exp" else x.bound + 1)

    def binary(self):
        x, y = self.pick(), self.pick()
        op = str(self.rng.choice(["Add", "Sub", "Mul", "Mul"]))
        self.add(op, [x, y], np.broadcast_shapes(x.shape, y.shape),
                 x.bound * y.bound if op == "Mul" else x.bound + y.bound)

    def grow(self):
        [self.unary, self.binary][int(self.rng.integers(0, 2))]()

    def unread(self):
        read = {name for node in self.nodes for name in node.input}
        return [value for value in self.values if value.name not in read]


def make_elementwise_case(seed, number):
    rng = np.random.default_rng([seed, number])
    graph = ElementwiseGraph(rng)
    for _ in range(int(rng.integers(4, 16))):
        graph.grow()
    reads = [graph.values[0].name, *(value.name for value in graph.unread())]
    return Case("Sum", graph.inputs, grad=range(len(graph.inputs)), opset=20,
                before=tuple(graph.nodes), reads=tuple(dict.fromkeys(reads)), directional=True,
                note=f"elementwise graph {number} of seed {seed}")


def gradients_of_both(tool, model, feeds, listed, folder):
    """The gradients, or an error message, also if they depend on recomputation."""
    results = []
    for recompute in ("cheap", "none"):
        gradients, said = dumped_gradients(tool, model, feeds, listed, folder,
                                           f"--recompute={recompute}")
        if said:
            return None, said
        results.append(gradients)
    differ = [name for name, cheap in results[0].items()
              if cheap.tobytes() != results[1][name].tobytes()]
    return (None, f"--recompute=none changes {differ}") if differ else (results[0], None)


def make_case(seed, number):
    rng = np.random.default_rng([seed, number])
    graph = Graph(rng)
    for _ in range(int(rng.integers(2, 13))):
        graph.grow()
    # Unread values contribute to the loss, too.
    means = [graph.add("ReduceMean", [value], (), value.bound, keepdims=0)
             for value in list(graph.values)]
    inputs = [x.astype(np.float32).astype(np.float64) for x in graph.inputs]
    return Case("Sum", inputs, grad=range(len(inputs)), opset=20, before=tuple(graph.nodes),
                reads=tuple(mean.name for mean in means), note=f"graph {number} of seed {seed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--elementwise", action="store_true", help="graphs of large tensors")
    parser.add_argument("--bin", default="", help="folder of the tools, if not on the path")
    parser.add_argument("--only", type=int, help="check this graph, and print its nodes")
    options = parser.parse_args()
    numbers = range(options.count) if options.only is None else [options.only]
    make = make_elementwise_case if options.elementwise else make_case
    cases = [make(options.seed, number) for number in numbers]
    if options.only is not None:
        print("\n".join(f"{n.output[0]} = {n.op_type}({', '.join(n.input)})" for n in cases[0].before))
    errors = gradient_errors(os.path.join(options.bin, "zero-run"), cases,
                             gradients_of_both if options.elementwise else dumped_gradients)
    wrong = [(case, error) for case, error in zip(cases, errors) if not error <= TOLERANCE]
    for case, error in wrong:
        print(f"FAIL {error:.1e} {case.note}: {len(case.before)} nodes")
    nodes = sum(len(case.before) for case in cases)
    print(f"{len(cases)} graphs of {nodes} nodes, largest error {max(errors):.1e}, "
          f"{len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
