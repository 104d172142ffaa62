"""Writes models whose nodes were exported from PyTorch and are not supported.

usage: origin_models.py DATA FOLDER
"""

import pathlib
import sys

import onnx
from models import info, linear, mean, model, weight
from onnx import helper


def edit_calls(nodes, old, new):
    """Replaces text in the calls from which nodes were exported."""
    for node in nodes:
        for entry in node.metadata_props:
            entry.value = entry.value.replace(old, new)
        for attribute in node.attribute:
            edit_calls(attribute.g.node, old, new)


def main():
    data, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for name, new in (("mode", "False, 7, False"), ("frequency", "True, 1, False")):
        bags = onnx.load(data / "embedding-bags/mean-offsets.onnx")
        edit_calls(bags.graph.node, "False, 1, False", new)
        onnx.save(bags, folder / f"{name}.onnx")
    unknown = helper.make_node("Det", ["square"], ["d"], "det")
    entry = unknown.metadata_props.add()
    entry.key = "pkg.torch.onnx.fx_node"
    entry.value = ("%det : [num_users=1] = call_function[target=torch.ops.aten.linalg_det.default]"
                   "(args = (%square,), kwargs = {})")
    nodes = [linear(), unknown, helper.make_node("Add", ["y", "d"], ["z"]), mean("z")]
    onnx.save(model(nodes, [info("x", [2, 4]), info("square", [3, 3])], initializers=[weight()]),
              folder / "unknown.onnx")


if __name__ == "__main__":
    main()
