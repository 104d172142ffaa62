"""Biases that share one gradient value, in separate buckets: a bucket that is reduced in place must
not change what the other bucket still reads.

usage: check_shared_gradient.py WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, read_safetensors, run_tool


def make_model(path):
    random = np.random.default_rng(0)
    weights = {"net.w": (8, 6), "net.b1": (4, 6), "net.b2": (4, 6), "net.b3": (4, 6)}
    initializers = [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
                    for name, shape in weights.items()]
    nodes = [helper.make_node("MatMul", ["x", "net.w"], ["y"]),
             helper.make_node("Add", ["y", "net.b1"], ["y1"]),
             helper.make_node("Add", ["y1", "net.b2"], ["y2"]),
             helper.make_node("Add", ["y2", "net.b3"], ["y3"]),
             helper.make_node("SoftmaxCrossEntropyLoss", ["y3", "labels"], ["loss"])]
    graph = helper.make_graph(
        nodes, "shared", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 8]),
                          helper.make_tensor_value_info("labels", TensorProto.INT64, [4])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    np.save(path.parent / "x.npy", random.standard_normal((4, 8)).astype(np.float32))
    np.save(path.parent / "labels.npy", random.integers(0, 6, 4))


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    make_model(work / "m.onnx")
    checks, results = Checks(), {}
    for ranks in (1, 2, 4):
        for stage in range(4):
            out = work / "g.safetensors"
            run_tool("zero-run", work / "m.onnx", f"--zero-stage={stage}", f"--ranks={ranks}",
                     "--bucket-bytes=1", "--steps=1", "--quiet",
                     f"--data=x={work / 'x.npy'},labels={work / 'labels.npy'}",
                     f"--dump-gradients={out}")
            gradients = read_safetensors(out)
            label = f"stage {stage} on {ranks}"
            for name in ("net.b2", "net.b3"):
                checks.that(np.array_equal(gradients[name], gradients["net.b1"]), f"{label}: {name}")
            expected = results.setdefault("first", gradients)
            for name in expected:
                checks.that(np.allclose(gradients[name], expected[name], rtol=1e-5, atol=1e-7),
                            f"{label}: {name} {gradients[name]} {expected[name]}")
    checks.finish()


if __name__ == "__main__":
    main()
