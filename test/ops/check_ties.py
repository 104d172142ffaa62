"""Gradients at ties and bounds, where central differences say nothing: the table of
docs/reference/numbers.md. The expected numbers are those of PyTorch 2.15 and JAX 0.10, with which
test/python/check_ties.py compares them again where these are installed.

usage: check_ties.py WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, read_safetensors, run_tool

CALL = "pkg.torch.onnx.fx_node"
INF = float("inf")
RECORDS = {
    "max.dim": "max.dim](args = (%x, 0), kwargs = {})",
    "min.dim": "min.dim](args = (%x, 0, True), kwargs = {})",
    "amax": "amax.default](args = (%x, [0]), kwargs = {})",
    "clamp": "clamp.default](args = (%x, -1.0, 1.0), kwargs = {})",
    # The exporter makes tensors of numbers, and nodes of two kinds of both calls.
    "clamp of numbers": "clamp.Tensor](args = (%x, %scalar_tensor_default, "
                        "%scalar_tensor_default_1), kwargs = {})",
    "clamp to a number": "clamp.Tensor](args = (%x, None, %scalar_tensor_default), kwargs = {})",
    "clamp of tensors": "clamp.Tensor](args = (%x, %low, %high), kwargs = {})",
    "clamp to a tensor": "clamp.Tensor](args = (%x,), kwargs = {max: %high})",
    "clamp_min of a tensor": "clamp_min.Tensor](args = (%x, %low), kwargs = {})",
    "clamp_max of a tensor": "clamp_max.Tensor](args = (%x, %high), kwargs = {})",
    "minimum": "minimum.default](args = (%maximum, %high), kwargs = {})",
    "minimum of a clamp": "minimum.default](args = (%clamp, %high), kwargs = {})",
    "maximum": "maximum.default](args = (%minimum, %low), kwargs = {})",
}
# Label: operator, record, operands (the first is the parameter), attributes, dy, expected gradient.
NONE, LOW, HIGH = None, np.float32(-1), np.float32(1)
CASES = {
    "relu": ("Relu", NONE, [[0, -0.0, 1]], {}, [2, 3, 4], [0, 0, 4]),
    "leaky": ("LeakyRelu", NONE, [[0, 1]], {"alpha": 0.25}, [2, 3], [0.5, 3]),
    "prelu": ("PRelu", NONE, [[0, 1], np.float32(0.25)], {}, [2, 3], [0.5, 3]),
    "elu": ("Elu", NONE, [[0, 1]], {"alpha": 2.0}, [2, 3], [4, 3]),
    "celu": ("Celu", NONE, [[0, 1]], {"alpha": 2.0}, [2, 3], [2, 3]),
    "selu": ("Selu", NONE, [[0, 1]], {"alpha": 2.0, "gamma": 1.5}, [2, 3], [6, 4.5]),
    "hard sigmoid": ("HardSigmoid", NONE, [[-3, 3, 0]], {"alpha": 1 / 6, "beta": 0.5}, [6, 6, 6],
                     [0, 0, 1]),
    "hard swish": ("HardSwish", NONE, [[-3, 3, 0]], {}, [2, 3, 4], [0, 3, 2]),
    "thresholded": ("ThresholdedRelu", NONE, [[1, 2]], {"alpha": 1.0}, [2, 3], [0, 3]),
    "shrink": ("Shrink", NONE, [[-0.5, 0.5, 1]], {"lambd": 0.5}, [2, 3, 4], [0, 0, 4]),
    "abs": ("Abs", NONE, [[0, -2, 2]], {}, [2, 3, 4], [0, -3, 4]),
    "clip": ("Clip", NONE, [[-1, 1, 0, 2], LOW, HIGH], {}, [2, 3, 4, 5], [0, 0, 4, 0]),
    "clip above": ("Clip", NONE, [[-1, 1, 2], None, HIGH], {}, [2, 3, 4], [2, 0, 0]),
    "max": ("Max", NONE, [[1, 2], np.float32([1, 1])], {}, [2, 3], [1, 3]),
    "min": ("Min", NONE, [[1, 2], np.float32([1, 1])], {}, [2, 3], [1, 0]),
    "max of three": ("Max", NONE, [[1, 2], np.float32([1, 2]), np.float32([1, 0])], {}, [6, 6],
                     [2, 3]),
    "reduce max": ("ReduceMax", NONE, [[1, 2, 2]], {}, [6], [0, 3, 3]),
    "reduce min": ("ReduceMin", NONE, [[1, 2, 1]], {}, [6], [3, 0, 3]),
    "l1": ("ReduceL1", NONE, [[0, -2, 3]], {}, [2], [0, -2, 2]),
    "l2": ("ReduceL2", NONE, [[0, 0]], {}, [2], [0, 0]),
    "product": ("ReduceProd", NONE, [[0, 2, 3]], {}, [1], [6, 0, 0]),
    "max pool": ("MaxPool", NONE, [[[[1, 2, 2, 0, 0, 0]]]], {"kernel_shape": [3], "strides": [3]},
                 [[[2, 3]]], [[[0, 2, 0, 3, 0, 0]]]),
    "global max pool": ("GlobalMaxPool", NONE, [[[[1, 2, 2]]]], {}, [[[2]]], [[[0, 2, 0]]]),
    "top 1": ("TopK", NONE, [[1, 2, 2], np.int64([1])], {}, [2], [0, 2, 0]),
    "sort": ("TopK", NONE, [[2, 1, 2], np.int64([3])], {}, [2, 3, 4], [2, 4, 3]),
    "sort up": ("TopK", NONE, [[2, 1, 2], np.int64([3])], {"largest": 0}, [2, 3, 4], [3, 2, 4]),
    "square at zero": ("Pow", NONE, [[0, 2], np.float32(2)], {}, [2, 3], [0, 12]),
    "power 0": ("Pow", NONE, [[0, 2], np.float32(0)], {}, [2, 3], [0, 0]),
    "root at zero": ("Sqrt", NONE, [[0, 4]], {}, [2, 3], [INF, 0.75]),
    # With a record.
    "max(dim)": ("ReduceMax", "max.dim", [[1, 2, 2]], {}, [6], [0, 6, 0]),
    "min(dim)": ("ReduceMin", "min.dim", [[2, 1, 1]], {"keepdims": 1}, [6], [0, 6, 0]),
    "amax": ("ReduceMax", "amax", [[1, 2, 2]], {}, [6], [0, 3, 3]),
    "clamp": ("Clip", "clamp", [[-1, 1, 0], LOW, HIGH], {}, [2, 3, 4], [0, 0, 4]),
    "clamp, as Max": ("Max", "clamp of numbers", [[-1, 1], LOW], {}, [2, 3], [0, 3]),
    "clamp, as Min": ("Min", "clamp to a number", [[-1, 1], HIGH], {}, [2, 3], [2, 0]),
    "clamp of numbers": ("Clip", "clamp of numbers", [[-1, 1], LOW, HIGH], {}, [2, 3], [0, 0]),
    "clamp of tensors": ("Clip", "clamp of tensors", [[-1, 1, 0, 2], LOW, HIGH], {}, [2, 3, 4, 5],
                         [1, 1.5, 4, 0]),
    "clamp of tensors, as Max": ("Max", "clamp of tensors", [[-1, 1], LOW], {}, [2, 3], [1, 3]),
    "clamp to a tensor": ("Min", "clamp to a tensor", [[-1, 1], HIGH], {}, [2, 3], [2, 1.5]),
    "clamp_min": ("Clip", "clamp_min of a tensor", [[-1, 1], LOW], {}, [2, 3], [1, 3]),
    "clamp_max": ("Clip", "clamp_max of a tensor", [[-1, 1], None, HIGH], {}, [2, 3], [2, 1.5]),
    "minimum of maximum": ("Clip", "minimum", [[-1, 1, 0], LOW, HIGH], {}, [2, 3, 4], [1, 1.5, 4]),
    "minimum of clamp": ("Clip", "minimum of a clamp", [[-1, 1], LOW, HIGH], {}, [2, 3], [0, 1.5]),
    "maximum of minimum": ("Clip", "maximum", [[-1, 1], LOW, HIGH], {}, [2, 3], [1, 1.5]),
}


class Model:
    """The sum of dy times the result of each case, whose parameters are the gradients to check."""

    def __init__(self):
        self.nodes, self.tensors, self.sums, self.expected = [], {}, [], {}

    def constant(self, name, value):
        self.tensors[name] = value
        return name

    def add(self, label, op, record, operands, attributes, dy, gradient):
        name = label.replace(" ", "_")
        parameter = self.constant(f"{name}.weight", np.float32(operands[0]))
        self.expected[parameter] = gradient
        reads = [parameter] + ["" if x is None else self.constant(f"{name}/{i}", x)
                               for i, x in enumerate(operands[1:])]
        if op.startswith("Reduce"):
            reads.append(self.constant(f"{name}/axes", np.int64([0])))
            attributes = {"keepdims": 0, **attributes}
        results = [f"{name}/y"] + ([f"{name}/at"] if op == "TopK" else [])
        node = helper.make_node(op, reads, results, f"{name}", **attributes)
        if record:
            node.metadata_props.add(key=CALL, value=f"%{name} : [num_users=1] = call_function["
                                                    f"target=torch.ops.aten.{RECORDS[record]}")
        self.nodes.append(node)
        self.emit("Mul", [f"{name}/y", self.constant(f"{name}/dy", np.float32(dy))], f"{name}/p")
        self.sums.append(self.emit("ReduceSum", [f"{name}/p"], f"{name}/s", keepdims=0))

    def emit(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def save(self, path):
        self.emit("Sum", self.sums, "sums")
        self.emit("Add", ["sums", "x"], "loss")
        value = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "ties", [value("x", TensorProto.FLOAT, [])],
                                  [value("loss", TensorProto.FLOAT, [])],
                                  [numpy_helper.from_array(np.asarray(v), k)
                                   for k, v in self.tensors.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)],
                                    ir_version=10), path)


def trained_bounds(checks, work):
    """A bound of Clip that is trained shares the gradient with the operand that equals it."""
    tensors = {"x.weight": [-1, -2, 0, 1, 2], "low.weight": [-2, 1], "high.weight": [3, -2]}
    nodes = [helper.make_node("ReduceSum", ["low.weight"], ["low"], keepdims=0),
             helper.make_node("ReduceSum", ["high.weight"], ["high"], keepdims=0),
             helper.make_node("Clip", ["x.weight", "low", "high"], ["y"]),
             helper.make_node("Mul", ["y", "dy"], ["z"]),
             helper.make_node("ReduceSum", ["z"], ["loss"], keepdims=0)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "bounds", [value("dy", TensorProto.FLOAT, [5])],
                              [value("loss", TensorProto.FLOAT, [])],
                              [numpy_helper.from_array(np.float32(v), k)
                               for k, v in tensors.items()])
    model = work / "bounds.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10),
              model)
    np.save(work / "dy.npy", np.float32([2, 3, 4, 5, 6]))
    compare(checks, work, model, f"dy={work / 'dy.npy'}",
            {"x.weight": [1, 0, 4, 2.5, 0], "low.weight": [4, 4], "high.weight": [8.5, 8.5]})


def compare(checks, work, model, data, expected):
    gradients = work / "gradients.safetensors"
    run_tool("zero-run", model, f"--data={data}", "--steps=1", "--quiet", "--allow-nan",
             f"--dump-gradients={gradients}")
    got = read_safetensors(gradients)
    for name, values in expected.items():
        checks.that(np.allclose(got[name], values, rtol=1e-6, atol=0),
                    f"{name}: {got[name]}, expected {values}")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks, model = Checks(), Model()
    for label, (op, record, operands, attributes, dy, gradient) in CASES.items():
        model.add(label, op, record, operands, attributes, dy, gradient)
    model.save(work / "ties.onnx")
    np.save(work / "x.npy", np.float32(0))
    compare(checks, work, work / "ties.onnx", f"x={work / 'x.npy'}", model.expected)
    trained_bounds(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
