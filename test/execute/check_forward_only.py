"""Forward-only execution of a model: all of its outputs, on one rank and on several.

usage: check_forward_only.py WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from zero_test import Checks, check_refused, read_safetensors, run_tool


def make_model(path):
    """Outputs of several types: of a layer, a comparison, a scalar, a shape, an input."""
    weight = np.random.default_rng(0).standard_normal((4, 5), np.float32)
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("MatMul", ["x", "layer.weight"], ["y"]),
             helper.make_node("ReduceMean", ["y"], ["y_mean"], keepdims=0),
             helper.make_node("Greater", ["y", "y_mean"], ["above"]),
             helper.make_node("Shape", ["y"], ["y_shape"]),
             helper.make_node("Identity", ["ids"], ["same_ids"])]
    outputs = [value("y", TensorProto.FLOAT, ["n", 5]), value("above", TensorProto.BOOL, ["n", 5]),
               value("y_mean", TensorProto.FLOAT, []), value("y_shape", TensorProto.INT64, [2]),
               value("same_ids", TensorProto.INT64, ["n"]), value("x", TensorProto.FLOAT, ["n", 4])]
    graph = helper.make_graph(
        nodes, "outputs", [value("x", TensorProto.FLOAT, ["n", 4]),
                           value("ids", TensorProto.INT64, ["n"])],
        outputs, [numpy_helper.from_array(weight, "layer.weight")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)],
                                ir_version=9), path)


def expected_over_ranks(model, inputs, ranks):
    """What each rank computes from its rows, in rank order."""
    reference = ReferenceEvaluator(model)
    names = [output.name for output in model.graph.output]
    rows = len(inputs["x"]) // ranks
    parts = [reference.run(None, {k: v[r * rows:(r + 1) * rows] for k, v in inputs.items()})
             for r in range(ranks)]
    join = {name: [part[i] for part in parts] for i, name in enumerate(names)}
    return {name: np.concatenate([np.atleast_1d(v) for v in values]) for name, values in join.items()}


def main():
    work = Path(sys.argv[1])
    checks = Checks()
    make_model(work / "model.onnx")
    model = onnx.load(work / "model.onnx")
    random = np.random.default_rng(1)
    inputs = {"x": random.standard_normal((12, 4), np.float32), "ids": np.arange(12)}
    np.savez(work / "inputs.npz", **inputs)
    for stage, ranks in ((0, 1), (0, 3), (3, 2), (3, 4)):
        rows = 12 // ranks
        run_tool("zero-run", work / "model.onnx", "--forward-only", f"--zero-stage={stage}",
                 f"--ranks={ranks}", f"--shape=x={rows}x4,ids={rows}",
                 f"--data={work / 'inputs.npz'}", f"--save-outputs={work / 'outputs.safetensors'}")
        outputs = read_safetensors(work / "outputs.safetensors")
        expected = expected_over_ranks(model, inputs, ranks)
        checks.that(outputs.keys() == expected.keys(), f"outputs {outputs.keys()}")
        for name, value in expected.items():
            checks.that(np.allclose(np.atleast_1d(outputs[name]), value, rtol=1e-5, atol=1e-6),
                        f"stage {stage}, {ranks} ranks, {name}: {outputs[name]}, not {value}")
    check_refused(checks, "loss", ["--forward-only", "--loss"], "zeroc", work / "model.onnx",
                  "--forward-only", "--loss=y_mean", "--plan-only")
    checks.finish()


if __name__ == "__main__":
    main()
