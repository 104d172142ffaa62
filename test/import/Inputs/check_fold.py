"""Compares folded shape arithmetic with ONNX's reference: check_fold.py TRANSLATE FOLDER

Each case is one node of integers or bools with constant operands. The importer
must have replaced it by a constant of the reference's values."""

import json
import pathlib
import re
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from models import info, mean, model

M = np.arange(24).reshape(2, 3, 4)
V = np.array([5, -3, 2, 0])
W = np.array([2, 2, -2, 7])
B = np.array([[True, False], [True, True]])
C = np.array([[True], [False]])
BIG, SMALL = np.iinfo(np.int64).max, np.iinfo(np.int64).min


def cases():
    """(operator, operands, attributes); None leaves an operand out."""
    for op in ("Add", "Sub", "Mul", "Min", "Max", "Equal", "Less", "Greater", "LessOrEqual"):
        yield op, [V, W], {}
        yield op, [M, V[:, None][:3]], {}
    yield "GreaterOrEqual", [V, W], {}
    yield "Max", [V, W, np.array(3)], {}
    yield "Div", [V, W], {}
    yield "Div", [np.array([7, -7, 7, -8]), np.array([2, 2, 4, 8])], {}
    yield "Mod", [np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3])], {}
    yield "Mod", [np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3])], {"fmod": 1}
    for op in ("Neg", "Abs", "Sign", "Identity"):
        yield op, [V], {}
    for op in ("And", "Or", "Xor"):
        yield op, [B, C], {}
    yield "Not", [B], {}
    yield "Where", [B, np.array([1, 2]), np.array([[3], [4]])], {}
    yield "Cast", [V], {"to": TensorProto.BOOL}
    yield "Cast", [V], {"to": TensorProto.INT32}
    yield "Cast", [B], {"to": TensorProto.INT64}
    yield "Cast", [np.array(-17, np.float32)], {"to": TensorProto.INT64}
    yield "CastLike", [np.array(1, np.float32), V], {}
    yield "CastLike", [V, W.astype(np.int32)], {}
    for op in ("ReduceSum", "ReduceProd", "ReduceMin", "ReduceMax"):
        yield op, [M + 1, np.array([1])], {}
        yield op, [M + 1, np.array([-1, 0])], {"keepdims": 0}
        yield op, [V], {"keepdims": 0}
    for exclusive in (0, 1):
        for reverse in (0, 1):
            yield "CumSum", [M, np.array(1)], {"exclusive": exclusive, "reverse": reverse}
    yield "Reshape", [M, np.array([4, -1])], {}
    yield "Reshape", [M, np.array([0, 0, 2, 2])], {}
    yield "Flatten", [M], {"axis": 2}
    yield "Unsqueeze", [M, np.array([0, -1])], {}
    yield "Squeeze", [M[:1], np.array([0])], {}
    yield "Squeeze", [M[:1, :1]], {}
    yield "Expand", [V[:, None], np.array([2, 1, 3])], {}
    yield "Tile", [M, np.array([1, 2, 1])], {}
    yield "Transpose", [M], {}
    yield "Transpose", [M], {"perm": [1, 2, 0]}
    yield "Concat", [M, M[:, :1], M * 2], {"axis": 1}
    yield "Concat", [V, W], {"axis": -1}
    yield "Slice", [M, np.array([1, 0]), np.array([BIG, 2]), np.array([1, 2])], {}
    yield "Slice", [M, np.array([-1]), np.array([SMALL]), np.array([2]), np.array([-2])], {}
    yield "Slice", [V, np.array([-3]), np.array([-1])], {}
    yield "Gather", [M, np.array([[0, -1], [2, 1]])], {"axis": 1}
    yield "Gather", [V, np.array(2)], {}
    yield "GatherElements", [M, np.tile(np.array([0, -1]), (2, 3, 1))], {"axis": 2}
    yield "GatherND", [M, np.array([[0, 1], [1, -1]])], {}
    yield "GatherND", [M, np.array([[1], [0]])], {"batch_dims": 1}
    yield "Range", [np.array(3), np.array(-6), np.array(-2)], {}
    yield "Trilu", [M], {"upper": 0}
    yield "Trilu", [M, np.array(1)], {}
    yield "Shape", [M], {"start": -2}
    yield "Shape", [M], {"start": 1, "end": 2}
    yield "Size", [M], {}
    yield "ConstantOfShape", [np.array([2, 3])], {"value": helper.make_tensor("", 7, [1], [9])}
    yield "Split", [M, np.array([1, 2])], {"axis": 1}
    # On 32 bits.
    yield "Add", [V.astype(np.int32), W.astype(np.int32)], {}
    yield "CumSum", [M.astype(np.int32), np.array(-1)], {}


def unfolded_cases():
    """A value that is not known exactly remains in the graph."""
    yield "Add", [np.array([BIG, 1]), np.array([1, 1])], {}
    yield "Mul", [np.array([2**31 - 1, 1], np.int32), np.array([2, 1], np.int32)], {}
    yield "Div", [V, np.array([1, 0, 1, 1])], {}
    yield "Add", [V.astype(np.float32), W.astype(np.float32)], {}
    yield "Cast", [np.array(1.5, np.float32)], {"to": TensorProto.INT64}
    yield "CastLike", [np.array(1e30, np.float32), V], {}


def build(op, operands, attributes):
    """The case as a model whose loss uses every result as floats."""
    names = [f"v{i}" if value is not None else "" for i, value in enumerate(operands)]
    constants = [numpy_helper.from_array(np.asarray(v), n) for n, v in zip(names, operands) if n]
    results = ["r0", "r1"] if op == "Split" else ["r0"]
    nodes = [helper.make_node(op, names, results, "case", **attributes)]
    total = "x"
    for result in results:
        nodes.append(helper.make_node("Cast", [result], [result + "f"], to=1))
        nodes.append(mean(result + "f", result + "m", result + "s"))
        nodes.append(helper.make_node("Add", [total, result + "s"], [result + "t"]))
        total = result + "t"
    nodes.append(helper.make_node("Identity", [total], ["loss"]))
    return model(nodes, [info("x", [])], initializers=constants), results


def parse_constants(text):
    """The values of all constants in printed MLIR, with their shapes and types."""
    pattern = r"arith\.constant dense<(.*?)> : tensor<((?:\d+x)*)(\w+)>"
    for values, shape, kind in re.findall(pattern, text):
        dims = [int(dim) for dim in shape.split("x")[:-1]]
        yield np.broadcast_to(np.array(json.loads(values)), dims), kind


def run_case(translate, path, case):
    proto, results = build(*case)
    path.write_bytes(proto.SerializeToString())
    text = subprocess.run([translate, "--import-onnx", path], capture_output=True, text=True, check=True)
    reference = ReferenceEvaluator(proto)
    values = reference.run(None, {"x": np.float32(0)}, intermediate=True)
    kinds = {"int64": "i64", "int32": "i32", "bool": "i1"}
    found = list(parse_constants(text.stdout))
    for result in results:
        expected = np.asarray(values[result])
        # A cast of one element is folded, too.
        wanted = {kinds[str(expected.dtype)]} | ({"f32"} if expected.size == 1 else set())
        if not any(
            k in wanted and v.shape == expected.shape and (v == expected).all() for v, k in found
        ):
            return f"expected {expected.tolist()}, got\n{text.stdout}"
    return "" if '"case"' not in text.stdout else "not folded"


def main():
    translate, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for case in cases():
        problem = run_case(translate, folder / "case.onnx", case)
        if problem:
            sys.exit(f"{case}: {problem}")
        count += 1
    for case in unfolded_cases():
        path = folder / "case.onnx"
        path.write_bytes(build(*case)[0].SerializeToString())
        text = subprocess.run([translate, "--import-onnx", path], capture_output=True, text=True)
        if 'node "case"' not in text.stdout:
            sys.exit(f"{case}: expected the node to stay, got {text.stdout}{text.stderr}")
        count += 1
    print(f"{count} cases hold")


if __name__ == "__main__":
    main()
