"""Writes a graph as PyTorch's legacy exporter (dynamo=False) leaves it: no_record_model.py MODEL

x times two tensors of the outermost module, a normalization without weights, whose
ones and zeros are Constant nodes, and a linear layer.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 4


def ones(name, scale):
    value = numpy_helper.from_array(np.full(WIDTH, scale, np.float32))
    return helper.make_node("Constant", [], [f"/norm/{name}_output_0"], f"/norm/{name}", value=value)


def main(path):
    rng = np.random.default_rng(0)
    weights = {"gain": (WIDTH,), "temperature": (1,), "fc.weight": (WIDTH, WIDTH)}
    node = helper.make_node
    nodes = [
        node("Mul", ["x", "gain"], ["/Mul_output_0"], "/Mul"),
        node("Mul", ["/Mul_output_0", "temperature"], ["/Mul_1_output_0"], "/Mul_1"),
        ones("Constant", 1),
        ones("Constant_1", 0),
        node("LayerNormalization",
             ["/Mul_1_output_0", "/norm/Constant_output_0", "/norm/Constant_1_output_0"],
             ["/norm/out"], "/norm/LayerNormalization"),
        node("MatMul", ["/norm/out", "fc.weight"], ["/fc/out"], "/fc/MatMul"),
        node("ReduceMean", ["/fc/out"], ["loss"], "/ReduceMean", keepdims=0),
    ]
    graph = helper.make_graph(
        nodes, "main_graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, WIDTH])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name)
         for name, shape in weights.items()])
    onnx.save(helper.make_model(graph, producer_name="pytorch",
                                opset_imports=[helper.make_opsetid("", 17)]), path)


if __name__ == "__main__":
    main(sys.argv[1])
