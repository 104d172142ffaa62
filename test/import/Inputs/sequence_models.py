"""Writes models of SplitToSequence and SequenceAt: sequence_models.py FOLDER"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

from models import FLOAT, INT64, info, ints, mean, model

node = helper.make_node


def taken(split, positions, dims=(2, 6), more=(), operands=("x", "n"), opset=18, tensors=(),
          outputs=(), **attributes):
    """A model of the sum of the chunks of `x` at `positions`, of sizes `split`."""
    nodes = [node("SplitToSequence", list(operands), ["s"], "cut", **attributes)]
    tensors = list(tensors) + ([] if split is None else [ints("n", split)])
    for i, position in enumerate(positions):
        tensors.append(ints(f"p{i}", position))
        nodes.append(node("SequenceAt", ["s", f"p{i}"], [f"c{i}"], f"at{i}"))
        nodes.append(mean(f"c{i}", f"mean{i}", f"m{i}"))
    nodes += [node("Sum", [f"m{i}" for i in range(len(positions))], ["loss"], "sum"), *more]
    return model(nodes, [info("x", dims)], list(outputs), tensors, opset=opset)


def good_models():
    size = numpy_helper.from_array(np.array(4, np.int32), "n")
    return {
        "thirds": taken(2, [0, 1, 2], axis=1),
        "uneven": taken(None, [0, 1], tensors=[size], axis=1),
        "gaps": taken([1, 1, 1, 1, 2], [3, -2, 0], axis=1),
        "dropped": taken(None, [-1, 0], operands=["x"], axis=-1, keepdims=0),
        "old": taken(None, [-1, 0], operands=["x"], opset=11, axis=-1, keepdims=0),
        "long": taken(1, [2**30 - 1], dims=(2**30,)),
        "named": taken(3, [0, 1], tensors=[ints("chunk.0", 0), ints("chunk.1", 0)], axis=1),
    }


def size_models():
    return {
        "negative": taken([-2, 8], [0], axis=1),
        "zero": taken(0, [0], axis=1),
        "below": taken(-(2**63), [0], axis=1),
        "sum": taken([2, 2], [0], axis=1),
        "overflow": taken([2**62, 2**62], [0], axis=1),
        "matrix": taken([[2, 4]], [0], axis=1),
        "axis": taken(2, [0], axis=2),
        "far": taken(2, [0], axis=2**32 + 1),
        "keepdims": taken(None, [0], operands=["x"], keepdims=2),
        "floats": taken(None, [0], tensors=[numpy_helper.from_array(np.float32(2), "n")]),
        "thousands": taken(1, range(2**13 + 1), dims=(2**13 + 1,)),
    }


def position_models():
    return {
        "above": taken(4, [0, 2], axis=1),
        "under": taken(4, [0, -3], axis=1),
        "none": taken(4, [0], dims=(2, 0), axis=1),
        "lowest": taken(4, [-(2**63)], axis=1),
        "two": taken(4, [[0, 1]], axis=1),
    }


def repeated():
    """An attribute that is given twice."""
    proto = taken(2, [0], axis=1)
    proto.graph.node[0].attribute.append(helper.make_attribute("axis", 0))
    return proto


def other_models():
    """Sequences that are not just taken apart."""
    length = [node("SequenceLength", ["s"], ["length"], "length")]
    wanted = [info("loss", []), info("length", [], INT64)]
    sequence = helper.make_tensor_sequence_value_info("s", FLOAT, None)
    number = [info("x", [2, 6]), info("i", [], INT64)]
    cut = node("SplitToSequence", ["x"], ["s"], "cut")
    variable = [cut, node("SequenceAt", ["s", "i"], ["c"], "at"), mean("c")]
    sizes = [node("SplitToSequence", ["x", "i"], ["s"], "cut"),
             node("SequenceAt", ["s", "p"], ["c"], "at"), mean("c")]
    joined = [cut, node("ConcatFromSequence", ["s"], ["c"], "join", axis=0), mean("c")]
    made = [node("SequenceConstruct", ["x", "x"], ["s"], "make"),
            node("SequenceAt", ["s", "p"], ["c"], "at"), mean("c")]
    zero = [ints("p", 0)]
    return {
        "length": taken(2, [0], more=length, outputs=wanted, axis=1),
        "returned": taken(2, [0], outputs=[info("loss", []), sequence], axis=1),
        "variable": model(variable, number),
        "sizes": model(sizes, number, initializers=zero),
        "joined": model(joined, number),
        "made": model(made, number, initializers=zero),
        "nothing": taken(2, [0], operands=["", "n"]),
        "nowhere": model([cut, node("SequenceAt", ["s", ""], ["c"], "at"), mean("c")], number),
        "twice": repeated(),
        "slope": model([cut, node("SequenceAt", ["s", "p"], ["c"], "at", slope=1), mean("c")],
                       number, initializers=zero),
        "truth": model([cut, node("SequenceAt", ["s", "p"], ["c"], "at"), mean("c")], number,
                       initializers=[numpy_helper.from_array(np.bool_(False), "p")]),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for models in (good_models(), size_models(), position_models(), other_models()):
        for name, proto in models.items():
            onnx.save(proto, folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
