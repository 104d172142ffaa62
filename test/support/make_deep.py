#!/usr/bin/env python3
"""Writes a perceptron of many equal layers, x + relu(x W + b), with the mean square of the output
as loss. Its state is large compared with the memory that one layer needs.

usage: make_deep.py OUTPUT.onnx [--layers 48] [--width 256] [--rows 8] [--plain]

With --plain a layer is relu(x W + b). The weights are stored as external data beside the graph.
"""

import argparse
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save


def write(path, layers, width, rows, plain=False):
    random = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for layer in range(layers):
        name = f"layers.{layer}"
        weight = random.standard_normal((width, width), dtype=np.float32) * 0.1 / width**0.5
        weights += [numpy_helper.from_array(weight, f"{name}.weight"),
                    numpy_helper.from_array(np.zeros(width, np.float32), f"{name}.bias")]
        nodes += [helper.make_node("Gemm", [value, f"{name}.weight", f"{name}.bias"],
                                   [f"{name}.y"], name=f"{name}.gemm"),
                  helper.make_node("Relu", [f"{name}.y"], [f"{name}.z"], name=f"{name}.relu")]
        if not plain:
            nodes.append(helper.make_node("Add", [value, f"{name}.z"], [f"{name}.x"],
                                          name=f"{name}.add"))
        value = nodes[-1].output[0]
    nodes += [helper.make_node("Mul", [value, value], ["square"], name="square"),
              helper.make_node("ReduceMean", ["square"], ["loss"], name="mean", keepdims=0)]
    graph = helper.make_graph(
        nodes, "main_graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, width])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10,
                              producer_name="make_deep")
    path.parent.mkdir(parents=True, exist_ok=True)
    save(model, str(path), save_as_external_data=True, location=path.name + ".data")
    checker.check_model(str(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--plain", action="store_true")
    arguments = parser.parse_args()
    write(arguments.output, arguments.layers, arguments.width, arguments.rows,
          arguments.plain)


if __name__ == "__main__":
    main()
