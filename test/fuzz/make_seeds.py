"""Writes models of one node each, the seeds of fuzz-compiler.

Usage: make_seeds.py FOLDER. Takes ONNX's node tests and makes them trainable: floats become
initializers, integers become constants, and the loss is the sum of the means of all float results.
Of each kind (operator and names of attributes) one test is used.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
MOST_BYTES = 1 << 16


def as_initializers(model, inputs):
    """Turns the test's inputs into initializers with the names of parameters."""
    names = {info.name: f"module.{info.name}" for info in model.graph.input}
    for node in model.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    for info, value in zip(model.graph.input, inputs):
        model.graph.initializer.append(
            numpy_helper.from_array(np.asarray(value), names[info.name]))
    del model.graph.input[:]


def loss_nodes(model):
    """Nodes that compute one scalar from the float results."""
    means = []
    for output in model.graph.output:
        kind = output.type.tensor_type.elem_type
        if kind not in FLOATS:
            continue
        name = f"{output.name}/mean"
        yield helper.make_node("ReduceMean", [output.name], [f"{name}/own"], keepdims=0)
        yield helper.make_node("Cast", [f"{name}/own"], [name], to=TensorProto.FLOAT)
        means.append(name)
    if means:
        yield helper.make_node("Sum", means, ["fuzz/loss"])


def trainable(case):
    """The node test `case` as a training graph, or None."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    inputs = case.data_sets[0][0]
    if any(not isinstance(value, np.ndarray) or value.dtype == object for value in inputs):
        return None
    extra = list(loss_nodes(model))
    if not extra:
        return None
    as_initializers(model, inputs)
    model.graph.node.extend(extra)
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("fuzz/loss", TensorProto.FLOAT, []))
    for opset in model.opset_import:
        if not opset.domain:
            opset.version = min(max(opset.version, 13), 23)
    return model


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    from onnx.backend.test.case.node import collect_testcases

    kinds = set()
    for case in collect_testcases(None):
        nodes = case.model.graph.node
        if len(nodes) != 1:
            continue
        kind = (nodes[0].op_type, len(nodes[0].input), *sorted(a.name for a in nodes[0].attribute))
        model = None if kind in kinds else trainable(case)
        if model is None or model.ByteSize() > MOST_BYTES:
            continue
        kinds.add(kind)
        (folder / f"{case.name}.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
