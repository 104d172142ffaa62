"""Compares chunks that SequenceAt selects with ONNX's reference, and checks their gradient.

usage: check_sequences.py FOLDER
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from zero_test import Checks, read_safetensors, run_tool

OPSETS = (11, 13, 18, 24)
# By name: sizes, positions and attributes.
CASES = {
    "equal": (2, [0, 1, 2], {"axis": 1}),
    "uneven": (4, [0, 1], {"axis": -1}),
    "whole": (2**62, [0, -1], {"axis": 1}),
    "listed": ([1, 3, 2], [0, 1, 2], {"axis": 1}),
    "empty": ([0, 6, 0], [1], {"axis": 1}),
    "ones": (None, [0, 3], {}),
    "dropped": (None, [0, 5], {"axis": 1, "keepdims": 0}),
    "ignored": (3, [1], {"axis": 1, "keepdims": 0}),
    "negative": (2, [-1, -3], {"axis": 1}),
    "repeated": ([1, 2, 1, 2], [3, 1, 3, -1, 1], {"axis": 1}),
    "skipped": (1, [4, 2], {"axis": 1}),
    "middle": (2, [1], {"axis": 2}),
}


def add_case(name, split, positions, attributes, nodes, tensors, outputs):
    operands = ["x"]
    if split is not None:
        operands.append(f"{name}.sizes")
        tensors.append(numpy_helper.from_array(np.array(split, np.int64), f"{name}.sizes"))
    nodes.append(helper.make_node("SplitToSequence", operands, [f"{name}.s"], name, **attributes))
    for i, position in enumerate(positions):
        at, chunk = f"{name}.at{i}", f"{name}.chunk{i}"
        tensors.append(numpy_helper.from_array(np.array(position, np.int32), at))
        nodes.append(helper.make_node("SequenceAt", [f"{name}.s", at], [chunk], f"{name}.{i}"))
        outputs.append(helper.make_tensor_value_info(chunk, TensorProto.FLOAT, None))


def all_cases(opset):
    """One model that contains all cases."""
    nodes, tensors, outputs = [], [], []
    for name, case in CASES.items():
        add_case(name, *case, nodes, tensors, outputs)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 6, 5])
    graph = helper.make_graph(nodes, "sequences", [x], outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def check_gradient(checks, folder, x):
    """Chunk 4 is used twice and chunk 1 once. The others get a gradient of 0."""
    nodes, tensors, chunks = [helper.make_node("Mul", ["x", "w"], ["y"], "scale")], [], []
    add_case("y", 1, [4, -2, 1], {"axis": 1}, nodes, tensors, chunks)
    nodes[1].input[0] = "y"
    nodes.append(helper.make_node("Sum", [chunk.name for chunk in chunks], ["sum"], "sum"))
    nodes.append(helper.make_node("ReduceMean", ["sum"], ["loss"], "mean", keepdims=0))
    tensors.append(numpy_helper.from_array(np.ones(x.shape, np.float32), "w"))
    graph = helper.make_graph(
        nodes, "gradient", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)],
                                ir_version=9), folder / "trained.onnx")
    (folder / "trainable.txt").write_text("w\n")
    run_tool("zero-run", folder / "trained.onnx", f"--data={folder / 'inputs.npz'}", "--steps=1",
             f"--trainable={folder / 'trainable.txt'}",
             f"--dump-gradients={folder / 'gradients.safetensors'}")
    expected = np.zeros(x.shape)
    expected[:, 4], expected[:, 1] = 2 * x[:, 4] / x[:, 4].size, x[:, 1] / x[:, 1].size
    got = read_safetensors(folder / "gradients.safetensors")["w"]
    checks.that(np.allclose(got, expected, rtol=1e-6), f"gradient {got}, not {expected}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    x = np.random.default_rng(0).standard_normal((4, 6, 5), np.float32)
    np.savez(folder / "inputs.npz", x=x)
    for opset in OPSETS:
        model = all_cases(opset)
        onnx.save(model, folder / "model.onnx")
        run_tool("zero-run", folder / "model.onnx", "--forward-only",
                 f"--data={folder / 'inputs.npz'}",
                 f"--save-outputs={folder / 'outputs.safetensors'}")
        outputs = read_safetensors(folder / "outputs.safetensors")
        expected = ReferenceEvaluator(model).run(None, {"x": x})
        for info, value in zip(model.graph.output, expected, strict=True):
            got = outputs[info.name]
            checks.that(got.shape == value.shape and np.array_equal(got, value),
                        f"opset {opset}, {info.name}: {got.shape}, not {value.shape}")
    check_gradient(checks, folder, x)
    checks.finish()


if __name__ == "__main__":
    main()
