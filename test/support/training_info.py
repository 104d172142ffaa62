"""Gives a model a training_info."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

DOMAIN = "ai.onnx.preview.training"


def add_momentum(model, names, rate=0.05, alpha=0.9, updates=()):
    """Trains the initializers `names` by SGD with momentum, and binds `updates`: pairs of an
    initializer and an output of a node."""
    loss = model.graph.output[0].name
    shapes = {t.name: list(t.dims) for t in model.graph.initializer}
    inputs = [i.name for i in model.graph.input if i.name not in shapes]
    states = [numpy_helper.from_array(np.zeros(shapes[n], np.float32), n + "::V") for n in names]
    scalars = [numpy_helper.from_array(np.array(v, t), n) for n, v, t in (
        ("rate", rate, np.float32), ("T", 0, np.int64), ("one", 1, np.int64))]
    nodes = [
        helper.make_node("Gradient", [*names, *inputs], [n + "::grad" for n in names],
                         name="gradient", domain=DOMAIN, xs=list(names), zs=inputs, y=loss),
        helper.make_node("Momentum", ["rate", "T", *names, *[n + "::grad" for n in names],
                                      *[n + "::V" for n in names]],
                         [*[n + "::new" for n in names], *[n + "::V_new" for n in names]],
                         name="momentum", domain=DOMAIN, alpha=alpha, beta=1.0, mode="standard",
                         norm_coefficient=0.0),
        helper.make_node("Add", ["T", "one"], ["T_new"], name="count"),
    ]
    bound = [("T", "T_new"), *[(n, n + "::new") for n in names],
             *[(n + "::V", n + "::V_new") for n in names], *updates]
    info = model.training_info.add()
    info.algorithm.CopyFrom(helper.make_graph(
        nodes, "algorithm", [],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, None) for _, value in bound],
        [*scalars, *states]))
    for key, value in bound:
        info.update_binding.add(key=key, value=value)
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return info


def batch_statistics(model):
    """Pairs of each running statistic of a model in training mode and its next value."""
    pairs = []
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            while len(node.output) < 3:
                node.output.append(f"{node.output[0]}::{len(node.output)}")
            pairs += zip(node.input[3:5], node.output[1:3])
    return pairs


def add_initialization(info, nodes, bound):
    """Initializes what `bound` pairs with values that `nodes` compute."""
    info.initialization.CopyFrom(helper.make_graph(
        nodes, "initialization", [],
        [helper.make_tensor_value_info(v, TensorProto.FLOAT, None) for _, v in bound]))
    for key, value in bound:
        info.initialization_binding.add(key=key, value=value)


