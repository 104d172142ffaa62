"""Writes a model whose RotaryEmbedding reads tables of cosines and sines. usage: rotary_model.py FILE"""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

dice = np.random.default_rng(0)
angles = np.outer(np.arange(8), 0.5 ** np.arange(4))
tensors = {"cos_cache": np.cos(angles), "sin_cache": np.sin(angles), "q.weight": dice.normal(size=(16, 16)),
           "positions": np.arange(8)[None]}
nodes = [helper.make_node("MatMul", ["x", "q.weight"], ["q"]),
         helper.make_node("RotaryEmbedding", ["q", "cos_cache", "sin_cache", "positions"], ["turned"], num_heads=2),
         helper.make_node("ReduceMean", ["turned"], ["loss"], keepdims=0)]
graph = helper.make_graph(
    nodes, "rotary", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 16])],
    [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
    [numpy_helper.from_array(np.asarray(value, np.int64 if name == "positions" else np.float32), name)
     for name, value in tensors.items()])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), sys.argv[1])
