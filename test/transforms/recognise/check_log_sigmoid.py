"""Trains logits with a binary cross entropy that has logarithms of a sigmoid, against float64.

usage: check_log_sigmoid.py FOLDER
"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, read_safetensors, relative, run_tool

# (1 - y) x - log(sigmoid(x)), as torch.export decomposes the loss.
DYNAMO = [("Sub", ["one", "y"], "rest"), ("Mul", ["rest", "net.w"], "linear"),
          ("Sigmoid", ["net.w"], "p"), ("Log", ["p"], "log_p"), ("Sub", ["linear", "log_p"], "each")]
# -(y log(sigmoid(x)) + (1 - y) log(1 - sigmoid(x))), as the legacy exporter writes it.
LEGACY = [("Sigmoid", ["net.w"], "p"), ("Log", ["p"], "log_p"), ("Mul", ["y", "log_p"], "hit"),
          ("Sub", ["one", "y"], "rest"), ("Sub", ["one", "p"], "q"), ("Log", ["q"], "log_q"),
          ("Mul", ["rest", "log_q"], "miss"), ("Add", ["hit", "miss"], "sum"),
          ("Neg", ["sum"], "each")]


def write(path, nodes, logits):
    made = [helper.make_node(kind, inputs, [output], output) for kind, inputs, output in nodes]
    made.append(helper.make_node("ReduceSum", ["each"], ["loss"], "loss", keepdims=0))
    tensors = [numpy_helper.from_array(logits, "net.w"),
               numpy_helper.from_array(np.array(1, np.float32), "one")]
    graph = helper.make_graph(
        made, "logits", [helper.make_tensor_value_info("y", TensorProto.FLOAT, logits.shape)],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)],
                                ir_version=10), path)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    # The graph of dynamo subtracts numbers near x where y is 0, in PyTorch, too.
    confident = np.array([[8, 9, 10, 12, 14, 16], [-8, -9, -10, -12, -14, -16]], np.float32)
    extreme = np.array([[-120, -95, -60, 60, 95, 120]] * 2, np.float32)
    for name, nodes, cases in (("dynamo", DYNAMO, {"confident": confident[:1], "extreme": extreme}),
                               ("legacy", LEGACY, {"confident": confident, "extreme": extreme})):
        for case, logits in cases.items():
            y = np.array([[1], [0]], np.float32)[:len(logits)].repeat(6, 1)
            write(folder / "model.onnx", nodes, logits)
            np.savez(folder / "data.npz", y=y)
            run_tool("zero-run", folder / "model.onnx", "--optimizer=sgd", "--steps=1",
                     f"--data={folder / 'data.npz'}", f"--log={folder / 'log'}",
                     f"--dump-gradients={folder / 'g.safetensors'}")
            x = np.float64(logits)
            expected = (np.logaddexp(0, x) - y * x).sum()
            loss = json.loads((folder / "log").read_text())["loss"]
            checks.that(loss is not None and abs(loss - expected) < 1e-5 * expected,
                        f"{name}, {case}: loss {loss}, not {expected}")
            gradient = np.where(y == 1, -1 / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))
            got = read_safetensors(folder / "g.safetensors")["net.w"]
            checks.that(relative(got, gradient) < 1e-5, f"{name}, {case}: {got}, not {gradient}")
    checks.finish()


if __name__ == "__main__":
    main()
