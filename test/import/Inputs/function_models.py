"""Writes models that contain functions into FOLDER: function_models.py FOLDER"""

import pathlib
import sys

import numpy as np
from onnx import AttributeProto, helper, numpy_helper

from models import linear, mean, model, weight

node = helper.make_node


def function(name, nodes, domains=("acme",), opset=18, **more):
    """A function from `a` to `b`."""
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_function("acme", name, ["a"], ["b"], nodes, imports, **more)


def call(name, source, result, **attributes):
    return node(name, [source], [result], domain="acme", **attributes)


def caller(name, functions, calls=None):
    nodes = [linear(), *(calls or [call(name, "y", "z")]), mean("z")]
    return model(nodes, initializers=[weight()], domains=["acme"], functions=functions)


def refers(made, **attributes):
    """`made`, with attributes that are those of the function: name=its name."""
    for name, of in attributes.items():
        made.attribute.add(name=name, ref_attr_name=of, type=AttributeProto.FLOAT)
    return made


def defaults():
    """Leak has a default slope; Outer passes its own on, which its calls may leave out."""
    leak = function("Leak", [refers(node("LeakyRelu", ["a"], ["b"]), alpha="slope")],
                    attribute_protos=[helper.make_attribute("slope", 0.25)])
    outer = function("Outer", [refers(call("Leak", "a", "b"), slope="given")],
                     attributes=["given"])
    return caller("", [outer, leak], [
        call("Leak", "y", "l0"), call("Leak", "l0", "l1", slope=0.5), call("Outer", "l1", "l2"),
        call("Outer", "l2", "z", given=0.75)])


def versions(opset, *nodes):
    """A function that imports another opset than the model, 18."""
    return caller("Old", [function("Old", nodes, opset=opset)])


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
        "defaults": defaults(),
        "old": versions(11, node("Softmax", ["a"], ["s"]), node("Elu", ["s"], ["b"])),
        "newer": versions(20, node("Gelu", ["a"], ["b"])),
        "ancient": versions(5, node("Relu", ["a"], ["b"])),
        # Mish has a body only, and opset 22 defines it anew.
        "body": versions(22, node("Mish", ["a"], ["b"])),
    }
    for name, proto in models.items():
        (folder / f"{name}.onnx").write_bytes(proto.SerializeToString())


if __name__ == "__main__":
    main()
