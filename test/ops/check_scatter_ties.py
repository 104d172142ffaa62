"""Gradients of ScatterElements and ScatterND that central differences cannot check: ties of max and
min, which share the gradient equally as in PyTorch's amax and amin, and products of zeros.

usage: check_scatter_ties.py WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, read_safetensors, run_tool

INDICES = [0, 0, 1, 2]
DY = [6.0, 4.0, 10.0]
# Reduction, data, updates, and the gradients of both.
CASES = [
    ("max", [5, 1, 2], [5, 5, 1, 0], [2, 2, 10], [2, 2, 2, 0]),
    ("max", [1, 9, 2], [5, 5, 1, 7], [0, 4, 0], [3, 3, 0, 10]),
    ("min", [5, 1, 2], [5, 7, 1, 0], [3, 2, 0], [3, 0, 2, 10]),
    ("min", [-1, -1, 2], [-1, -1, -3, 2], [2, 0, 5], [2, 2, 4, 5]),
    ("mul", [2, 0, 3], [0, 3, 4, 0], [0, 16, 0], [36, 0, 0, 30]),
    ("mul", [0, 5, 3], [0, 0, 4, 2], [0, 16, 20], [0, 0, 20, 30]),
    ("add", [5, 1, 2], [5, 5, 1, 0], [6, 4, 10], [6, 6, 4, 10]),
]


def save_model(path, op, reduction, data, updates):
    shape = (-1, 1) if op == "ScatterND" else (-1,)
    tensors = {"fc.weight": np.float32(data), "fc.bias": np.float32(updates),
               "at": np.reshape(np.int64(INDICES), shape)}
    attrs = {} if op == "ScatterND" else {"axis": 0}
    nodes = [helper.make_node(op, ["fc.weight", "at", "fc.bias"], ["y"], reduction=reduction, **attrs),
             helper.make_node("Mul", ["y", "dy"], ["z"]),
             helper.make_node("ReduceSum", ["z"], ["loss"], keepdims=0)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "ties", [value("dy", TensorProto.FLOAT, [3])],
                              [value("loss", TensorProto.FLOAT, [])],
                              [numpy_helper.from_array(v, k) for k, v in tensors.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9),
              path)


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    np.save(work / "dy.npy", np.float32(DY))
    for op in ("ScatterElements", "ScatterND"):
        for reduction, data, updates, *expected in CASES:
            save_model(work / "model.onnx", op, reduction, data, updates)
            run_tool("zero-run", work / "model.onnx", f"--data=dy={work / 'dy.npy'}", "--steps=1",
                     "--quiet", f"--dump-gradients={work / 'gradients.safetensors'}")
            got = read_safetensors(work / "gradients.safetensors")
            for name, values in zip(("fc.weight", "fc.bias"), expected):
                checks.that(np.allclose(got[name], values, rtol=1e-6, atol=0),
                            f"{op} {reduction} {data} {updates}: {name} {got[name]}, not {values}")
    checks.finish()


if __name__ == "__main__":
    main()
