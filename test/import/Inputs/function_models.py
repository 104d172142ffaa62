"""Writes models that contain functions into FOLDER: function_models.py FOLDER"""

import pathlib
import sys

import numpy as np
from onnx import helper, numpy_helper

from models import linear, mean, model, weight

node = helper.make_node


def function(name, nodes, domains=("acme",)):
    """A function from `a` to `b`."""
    imports = [helper.make_opsetid("", 18)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_function("acme", name, ["a"], ["b"], nodes, imports)


def call(name, source, result):
    return node(name, [source], [result], domain="acme")


def caller(name, functions):
    nodes = [linear(), call(name, "y", "z"), mean("z")]
    return model(nodes, initializers=[weight()], domains=["acme"], functions=functions)


def main():
    half = numpy_helper.from_array(np.array(0.5, np.float32), "half")
    halve = [node("Constant", [], ["h"], value=half), node("Mul", ["a", "h"], ["b"])]
    inner = function("Halve", halve)
    outer = function("Act", [call("Halve", "a", "c"), node("Relu", ["c"], ["b"])])
    levels = [function("F0", [node("Relu", ["a"], ["b"])])]
    for i in range(1, 40):
        below = f"F{i - 1}"
        levels.append(function(f"F{i}", [call(below, "a", "c"), call(below, "c", "b")]))
    loop = function("Loop_", [call("Loop_", "a", "b")])
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    models = {
        "nested": caller("Act", [inner, outer]),
        "bomb": caller("F39", levels),
        "recursive": caller("Loop_", [loop]),
    }
    for name, proto in models.items():
        (folder / f"{name}.onnx").write_bytes(proto.SerializeToString())


if __name__ == "__main__":
    main()
