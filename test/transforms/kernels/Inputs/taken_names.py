"""Writes models whose constants have names of the compiler's symbols: taken_names.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

MODELS = {
    "free": ["update", "update_scalars", "k0_mul", "k0_reducemean", "k1_mul", "k2_mul"],
    "state": ["module.w.exp_avg"],
    "bucket": ["bucket0"],
}


def model(names):
    """The mean of x times module.w plus all constants."""
    names = ["module.w", *names]
    nodes = [helper.make_node("Mul", ["x", "module.w"], ["v0"])]
    for i, name in enumerate(names[1:]):
        nodes.append(helper.make_node("Add", [f"v{i}", name], [f"v{i + 1}"]))
    nodes.append(helper.make_node("ReduceMean", [f"v{len(names) - 1}"], ["loss"], keepdims=0))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", TensorProto.FLOAT, [2, 4])],
        [info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(np.ones(4, np.float32), name) for name in names],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def product(name):
    """The mean of x times the matrix module.w, plus constant `name`."""
    nodes = [helper.make_node("MatMul", ["x", "module.w"], ["y"]),
             helper.make_node("Add", ["y", name], ["z"]),
             helper.make_node("ReduceMean", ["z"], ["loss"], keepdims=0)]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", TensorProto.FLOAT, [2, 8])],
        [info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(np.ones((8, 8), np.float32), "module.w"),
         numpy_helper.from_array(np.ones(8, np.float32), name)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, constants in MODELS.items():
        (folder / f"{name}.onnx").write_bytes(model(constants).SerializeToString())
    (folder / "part.onnx").write_bytes(product("module.w.part0.exp_avg").SerializeToString())


if __name__ == "__main__":
    main()
