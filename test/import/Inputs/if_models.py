"""Writes models whose If nodes are not supported: if_models.py FOLDER"""

import pathlib
import sys

import numpy as np
from models import info, ints, mean, model, weight
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node


def branch(nodes, outputs, tensors=(), inputs=()):
    return helper.make_graph(nodes, "branch", list(inputs), [info(o, [2, 4]) for o in outputs],
                             list(tensors))


def with_if(condition, taken, tensors=(), results=("c",), inputs=()):
    other = branch([node("Neg", ["x"], ["n"])], ["n"])
    nodes = [node("If", [condition], list(results), "branch", then_branch=taken, else_branch=other),
             mean("c")]
    return model(nodes, [info("x", [2, 4]), *inputs], initializers=[weight(), *tensors])


def main():
    yes = numpy_helper.from_array(np.array(True), "yes")
    good = branch([node("Neg", ["x"], ["n"])], ["n"])
    scaled = branch([node("MatMul", ["x", "own"], ["n"])], ["n"], [weight("own")])
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    flag = info("flag", [], TensorProto.BOOL)
    models = {
        "unknown": with_if("flag", good, inputs=[flag]),
        "number": with_if("one", good, [ints("one", 1)]),
        "two": with_if("both", good, [numpy_helper.from_array(np.array([True, False]), "both")]),
        "results": with_if("yes", good, [yes], ["c", "d"]),
        "inputs": with_if("yes", branch([node("Neg", ["i"], ["n"])], ["n"],
                                        inputs=[info("i", [2, 4])]), [yes]),
        "weights": with_if("yes", scaled, [yes]),
        "missing": with_if("yes", branch([node("Neg", ["nowhere"], ["n"])], ["n"]), [yes]),
        "cycle": with_if("yes", branch([node("Neg", ["b"], ["a"]), node("Neg", ["a"], ["b"])],
                                       ["a"]), [yes]),
        "twice": with_if("yes", branch([node("Neg", ["x"], ["n"])], ["n"], [ints("n", [1])]), [yes]),
    }
    for name, proto in models.items():
        (folder / f"{name}.onnx").write_bytes(proto.SerializeToString())


if __name__ == "__main__":
    main()
