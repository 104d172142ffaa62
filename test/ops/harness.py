"""Cases of single ONNX nodes, checked through the compiler and the runtime.

Forward: combines many cases in one model and compares it in float32 with onnx.reference in float64.
Gradient: the same in float64, unless the case says `single`. Each case has one float32 vector as
parameter, from which its operands are cut. Compares `zero-run --dump-gradients` with central
differences of the reference.
"""

import math
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from node_models import Part, batches, combine, zero_run
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from zero_test import read_safetensors

STEP = 1e-5  # of the central differences, whose error is about 1e-10
# Elements of which each has a difference: all in make test-full.
FEW = math.inf if os.environ.get("ZERO_TEST_EACH_ELEMENT") else 24
DIRECTIONS = 3
BATCH = 60


@dataclass
class Case:
    """One node. `inputs` are arrays or None, `constants` the positions of those that are
    part of the graph, `grad` of those whose gradient is checked."""

    op: str
    inputs: list
    attrs: dict = field(default_factory=dict)
    opset: int = 18
    outputs: int = 1
    absent: tuple = ()      # positions of results that the node omits
    constants: tuple = ()
    # the positions of floats that ONNX requires in float32 for any type of the others
    settings: tuple = ()
    grad: tuple = ()
    tol: float = 1e-6       # of results in float32
    grad_tol: float = 1e-6  # of gradients in float64, parameters in float32
    note: str = ""
    before: tuple = ()  # nodes before it, which read x0, x1, ..
    reads: tuple = ()   # the operands of the node in that case, if they are not the inputs
    single: bool = False  # gradients are also computed in float32
    by: object = None  # reference in numpy for cases that onnx.reference lacks: inputs -> results
    fails: str = ""    # the run must end with an error that contains this text
    domain: str = ""   # of the operator; one that is not of ai.onnx needs `by`
    declared: dict = field(default_factory=dict)  # the shapes of results that the model states
    # gradients are compared along one direction per operand, not in each element; those of more
    # than FEW elements along DIRECTIONS
    directional: bool = False

    def __post_init__(self):
        self.inputs = [None if x is None else np.asarray(x) for x in self.inputs]
        self.constants, self.grad = set(self.constants), list(self.grad or ())

    def label(self):
        shapes = ", ".join("-" if x is None else f"{x.dtype}{list(x.shape)}" for x in self.inputs)
        return f"{self.name()}-{self.opset}({shapes}) {self.attrs} {self.note}".strip()

    def name(self):
        return f"{self.domain}.{self.op}" if self.domain else self.op

    def opsets(self):
        return (("", self.opset), (self.domain, 1)) if self.domain else (("", self.opset),)

    def nodes(self, names):
        attrs = {k: numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v
                 for k, v in self.attrs.items()}
        outputs = ["" if i in self.absent else f"y{i}" for i in range(self.outputs)]
        return [*self.before, helper.make_node(self.op, self.reads or names, outputs,
                                               domain=self.domain, **attrs)]

    def names(self):
        return ["" if x is None else f"x{i}" for i, x in enumerate(self.inputs)]

    def results(self):
        """The positions of the results that the node has."""
        return [i for i in range(self.outputs) if i not in self.absent]

    def trains(self):
        """Whether a result depends on an operand with a gradient: not if either has no elements."""
        return (any(self.inputs[i].size for i in self.grad)
                and any(y.size for y in self.reference(self.inputs)))

    def reference(self, inputs):
        """The results in float64, without absent ones."""
        with np.errstate(all="ignore"):  # some cases contain infinities and NaN
            if self.by:
                got = self.by(*[None if x is None else wide(x) for x in inputs])
                got = got if isinstance(got, list) else [got]
                return [np.asarray(got[i]) for i in self.results()]
            if not hasattr(self, "evaluator"):
                infos = [info(n, wide(x)) for n, x in zip(self.names(), inputs) if n]
                outs = [onnx.ValueInfoProto(name=f"y{i}") for i in self.results()]
                graph = helper.make_graph(self.nodes(self.names()), "g", infos, outs)
                self.evaluator = ReferenceEvaluator(helper.make_model(
                    graph, opset_imports=[helper.make_opsetid("", self.opset)]))
            feeds = {n: wide(x) for n, x in zip(self.names(), inputs) if n}
            try:
                return [np.asarray(y) for y in self.evaluator.run(None, feeds)]
            except Exception as error:
                raise SystemExit(f"onnx.reference lacks {self.label()}: {error}") from error


def wide(x):
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def info(name, x):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)


def forward_part(case, name):
    """The node with floating-point types as float32, unless they are float16."""
    arrays = {n: x.astype(np.float32) if x.dtype == np.float64 else x
              for n, x in zip(case.names(), case.inputs) if n}
    outputs = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, case.declared[i])
               if i in case.declared else onnx.ValueInfoProto(name=f"y{i}")
               for i in case.results()]
    part = Part(name, None, case.opsets())
    for position, (n, x) in enumerate(zip(case.names(), case.inputs)):
        if n:
            (part.constants if position in case.constants else part.feeds)[n] = arrays[n]
    part.graph = helper.make_graph(case.nodes(case.names()), name,
                                   [info(n, x) for n, x in part.feeds.items()], outputs)
    return part


class GradientGraph:
    """The sum of a case's float results, each multiplied by a random weight, as a graph."""

    def __init__(self, case, name, expected):
        rng = np.random.default_rng(7)
        self.case, self.nodes, self.count = case, [], 0
        self.part = Part(name, None, case.opsets())
        self.weights = {i: rng.standard_normal(y.shape) for i, y in zip(case.results(), expected)
                        if y.dtype.kind == "f"}
        flat = [case.inputs[i].astype(np.float64).ravel() for i in case.grad]
        # Adds two unused elements, because a parameter must have more than one.
        self.parameter = np.concatenate([*flat, np.zeros(2)]).astype(np.float32)
        names = [self.operand(i, x) for i, x in enumerate(case.inputs)]
        self.nodes.extend(case.nodes(names))
        self.sums = [self.weighted_sum(i, w) for i, w in self.weights.items()]
        self.emit("Sum", self.sums, "total")
        self.part.constants["p"] = self.parameter
        infos = [info(n, x) for n, x in self.part.feeds.items()]
        out = helper.make_tensor_value_info("total", TensorProto.DOUBLE, [])
        self.part.graph = helper.make_graph(self.nodes, name, infos, [out])

    def emit(self, op, inputs, output=None, **attrs):
        output = output or f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attrs))
        return output

    def constant(self, name, value):
        self.part.constants[name] = np.asarray(value)
        return name

    def operand(self, position, x):
        if x is None:
            return ""
        name = f"x{position}"
        if position not in self.case.grad:
            group = self.part.constants if position in self.case.constants else self.part.feeds
            narrow = x.dtype.kind == "f" and (self.case.single or position in self.case.settings)
            group[name] = x.astype(np.float32) if narrow else wide(x)
            return name
        begin, self.count = self.count, self.count + x.size
        if self.case.opset < 10:  # Slice had attributes
            cut = self.emit("Gather", ["p", self.constant(f"{name}_at", np.arange(begin, self.count))])
        else:
            ends = [self.constant(f"{name}_{i}", np.array([v]))
                    for i, v in enumerate((begin, begin + x.size, 0))]
            cut = self.emit("Slice", ["p", *ends])
        shape = self.constant(f"{name}_shape", np.array(x.shape, np.int64))
        shaped = self.emit("Reshape", [cut, shape], **({"allowzero": 1} if 0 in x.shape else {}))
        return self.emit("Cast", [shaped], name,
                         to=TensorProto.FLOAT if self.case.single else TensorProto.DOUBLE)

    def weighted_sum(self, index, weight):
        self.part.feeds[f"w{index}"] = weight
        result = self.emit("Cast", [f"y{index}"], to=TensorProto.DOUBLE)
        product = self.emit("Mul", [result, f"w{index}"])
        return self.emit("ReduceSum", [product], keepdims=0)

    def point(self):
        """The operands, those with a gradient where the float32 parameter is."""
        point = [None if x is None else np.array(wide(x)) for x in self.case.inputs]
        for position in self.case.grad:
            point[position] = np.array(self.case.inputs[position].astype(np.float32), np.float64)
        return point

    def loss(self, point):
        results = dict(zip(self.case.results(), self.case.reference(point)))
        return sum((results[i] * w).sum() for i, w in self.weights.items())

    def central_differences(self):
        point, slopes = self.point(), []
        for position in self.case.grad:
            x = point[position]
            for index in np.ndindex(x.shape):
                centre = x[index]
                x[index] = centre + STEP
                above = self.loss(point)
                x[index] = centre - STEP
                slopes.append((above - self.loss(point)) / (2 * STEP))
                x[index] = centre
        return np.array([*slopes, 0, 0])

    def error(self, gradient):
        elements = sum(self.case.inputs[i].size for i in self.case.grad)
        if not self.case.directional and elements <= FEW:
            return error_of(gradient, self.central_differences())
        rng = np.random.default_rng(3)
        errors = [error for _ in range(1 if self.case.directional else DIRECTIONS)
                  for error in self.errors_along(gradient, rng)]
        return float(np.nan_to_num(errors, nan=np.inf).max())

    def errors_along(self, gradient, rng):
        """For each operand, of the sum of its gradient times a random direction."""
        point, begin = self.point(), 0
        for position in self.case.grad:
            centre = point[position]
            direction = rng.standard_normal(centre.shape)
            parts = gradient[begin:begin + centre.size].reshape(centre.shape) * direction
            begin += centre.size
            losses = []
            for step in (STEP, -STEP):
                point[position] = centre + step * direction
                losses.append(self.loss(point))
            point[position] = centre
            slope = (losses[0] - losses[1]) / (2 * STEP)
            yield abs(parts.sum() - slope) / max(1.0, np.abs(parts).sum())


def loss_model(parts):
    """All parts of one model, with the sum of their sums as its only output."""
    model, feeds = combine(parts)
    totals = [output.name for output in model.graph.output]
    model.graph.node.append(helper.make_node("Sum", totals, ["sum_of_all"], name="sum_of_all"))
    model.graph.node.append(helper.make_node("Cast", ["sum_of_all"], ["loss"], name="loss",
                                             to=TensorProto.FLOAT))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("loss", TensorProto.FLOAT, []))
    return model, feeds


def error_of(got, expected):
    """Largest difference, relative to the largest expected magnitude or 1."""
    if got.shape != expected.shape:
        return np.inf
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(got, expected) else np.inf
    got = got.astype(np.float64)
    odd = ~np.isfinite(expected)
    if not np.array_equal(got[odd], expected[odd], equal_nan=True):
        return np.inf
    scale = max(1.0, np.abs(expected[~odd]).max(initial=0))
    return float(np.nan_to_num(np.abs(got[~odd] - expected[~odd]), nan=np.inf).max(initial=0)
                 / scale)


def run_group(group, execute):
    """`execute(group, folder)` returns the outputs and the error message of the tools. After an
    error, runs each half separately, so that one bad case does not affect others: {part: outputs}.
    """
    with tempfile.TemporaryDirectory() as scratch:
        outputs, said = execute(group, Path(scratch))
    if not said:
        return {part.name: outputs for part in group}
    if len(group) == 1:
        print(f"{group[0].name}: {said.strip()[:600]}")
        return {group[0].name: None}
    half = len(group) // 2
    return {**run_group(group[:half], execute), **run_group(group[half:], execute)}


def forward_errors(tool, cases, *flags):
    """The error of each case's results; infinity if the case is rejected."""
    def execute(group, folder):
        model, feeds = combine(group)
        results = folder / "outputs.safetensors"
        said = zero_run(tool, model, feeds, folder, "--forward-only", f"--save-outputs={results}",
                        *flags)
        return (None, said) if said else (read_safetensors(results), None)

    errors = {}
    parts = {f"case{i}": case for i, case in enumerate(cases)}
    for group in batches([forward_part(case, name) for name, case in parts.items()], BATCH):
        for name, outputs in run_group(group, execute).items():
            want = parts[name].reference(parts[name].inputs)
            errors[name] = np.inf if outputs is None else max(
                error_of(outputs[f"{name}/y{i}"], y) for i, y in zip(parts[name].results(), want))
    return [errors[name] for name in parts]


def dumped_gradients(tool, model, feeds, listed, folder, *flags):
    """The gradients of the parameters in `listed` by name, or the error message of the tools."""
    results = folder / "gradients.safetensors"
    said = zero_run(tool, model, feeds, folder, f"--trainable={listed}",
                    f"--dump-gradients={results}", *flags)
    return (None, said) if said else (read_safetensors(results), None)


def gradient_errors(tool, cases, gradients_of=dumped_gradients):
    """The error of each case's gradients (all cases have some); infinity if the case is rejected.
    """
    def execute(group, folder):
        model, feeds = loss_model(group)
        listed = folder / "trainable.txt"
        listed.write_text("".join(f"{part.name}/p\n" for part in group))
        return gradients_of(tool, model, feeds, listed, folder)

    graphs = {f"case{i}": GradientGraph(case, f"case{i}", case.reference(case.inputs))
              for i, case in enumerate(cases)}
    errors = {}
    for group in batches([graph.part for graph in graphs.values()], BATCH):
        for name, gradients in run_group(group, execute).items():
            errors[name] = (np.inf if gradients is None
                            else graphs[name].error(gradients[f"{name}/p"]))
    return [errors[name] for name in graphs]


def refusal(tool, case):
    """The error message of the tools for a case that must fail."""
    with tempfile.TemporaryDirectory() as scratch:
        model, feeds = combine([forward_part(case, "case")])
        return zero_run(tool, model, feeds, Path(scratch), "--forward-only") or ""
