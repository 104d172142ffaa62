#!/usr/bin/env python3
"""Writes a graph of a scaled input, one matrix product, width x 4 width, and the mean of its
squares as loss.

The weight is external data beside the graph: a file that has its full length but takes no space, so
that a product larger than this machine can be planned.

usage: make_linear.py OUTPUT.onnx --width 65536 [--rows 8]
"""

import argparse
from pathlib import Path

from onnx import TensorProto, checker, helper, save

FACTOR = 4


def write(path, width, rows):
    data = path.with_name(path.name + ".data")
    length = FACTOR * width * width * 4
    with open(data, "wb") as file:
        file.truncate(length)
    weight = TensorProto(name="fc.weight", dims=[width, FACTOR * width],
                         data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", data.name), ("offset", 0), ("length", length)):
        weight.external_data.add(key=key, value=str(value))
    scale = helper.make_tensor("norm.weight", TensorProto.FLOAT, [width], [1.0] * width)
    nodes = [helper.make_node("Mul", ["x", "norm.weight"], ["scaled"], name="norm"),
             helper.make_node("MatMul", ["scaled", "fc.weight"], ["y"], name="fc"),
             helper.make_node("Mul", ["y", "y"], ["square"], name="square"),
             helper.make_node("ReduceMean", ["square"], ["loss"], name="mean", keepdims=0)]
    graph = helper.make_graph(
        nodes, "main_graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, width])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], [scale, weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10,
                              producer_name="make_linear")
    save(model, str(path))
    checker.check_model(str(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--rows", type=int, default=8)
    arguments = parser.parse_args()
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    write(arguments.output, arguments.width, arguments.rows)


if __name__ == "__main__":
    main()
