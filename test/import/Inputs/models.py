"""Builders shared by the scripts that write small models for tests."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def info(name, dims, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, dims)


def weight(name="fc.weight", dims=(4, 4)):
    return numpy_helper.from_array(np.ones(dims, np.float32), name)


def ints(name, values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs=(), outputs=(), initializers=(), opset=18, domains=(), **more):
    """A model that returns `loss` unless told otherwise."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        list(inputs) or [info("x", [2, 4])],
        list(outputs) or [info("loss", [])],
        list(initializers),
    )
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, **more)


def mean(source, name="mean", result="loss"):
    """Ends a graph in a scalar."""
    return helper.make_node("ReduceMean", [source], [result], name, keepdims=0)


def linear(source="x", result="y", name="fc"):
    return helper.make_node("MatMul", [source, "fc.weight"], [result], name)
