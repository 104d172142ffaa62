"""Products that first reorder B are chosen by shape, are bitwise identical at every stage, and are
counted in the plan and in the run.

usage: check_reorder.py WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, read_safetensors, run_tool

ROWS, STEPS = 1024, 3


def make_model(work, rows, classes):
    """x W1, then W2 of 512 columns (both reordered if there are enough `rows`), then W3 (never)."""
    random = np.random.default_rng(0)
    weights = {"net.w1": (64, 512), "net.w2": (512, 512), "net.w3": (512, classes)}
    initializers = [numpy_helper.from_array(
        random.standard_normal(shape).astype(np.float32) / np.float32(shape[0] ** 0.5), name)
        for name, shape in weights.items()]
    nodes = [helper.make_node("MatMul", ["x", "net.w1"], ["y1"]),
             helper.make_node("Relu", ["y1"], ["z1"]),
             helper.make_node("MatMul", ["z1", "net.w2"], ["y2"]),
             helper.make_node("Relu", ["y2"], ["z2"]),
             helper.make_node("MatMul", ["z2", "net.w3"], ["y3"]),
             helper.make_node("SoftmaxCrossEntropyLoss", ["y3", "labels"], ["loss"])]
    graph = helper.make_graph(
        nodes, "layers", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 64]),
                          helper.make_tensor_value_info("labels", TensorProto.INT64, [rows])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], initializers)
    path = work / f"{rows}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10),
              path)
    np.save(work / "x.npy", random.standard_normal((4 * ROWS, 64)).astype(np.float32))
    np.save(work / "labels.npy", random.integers(0, classes, 4 * ROWS))
    return path


def run(work, model, *flags):
    """The compiler's report, the final weights, the run's output, its report."""
    executable, weights, report = work / "m.zexe", work / "w.safetensors", work / "r.json"
    planned = run_tool("zeroc", model, "-o", executable, *flags)
    text = run_tool("zero-run", executable, f"--steps={STEPS}", "--profile",
                    f"--data=x={work / 'x.npy'},labels={work / 'labels.npy'}",
                    f"--save={weights}", f"--report-json={report}")
    tensors = read_safetensors(weights)
    return (planned, {name: tensors[name].tobytes() for name in tensors}, text,
            json.loads(report.read_text())["profile"]["reorders"])


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    model = make_model(work, ROWS, 8)
    first = None
    for stage in range(4):
        planned, weights, text, reorders = run(work, model, f"--zero-stage={stage}", "--ranks=2")
        first = first or weights
        checks.that(weights == first, f"stage {stage}: other weights")
        checks.that("\n2 products per step reorder B first, 1.12 MiB in all\n" in planned,
                    f"stage {stage}: {planned}")
        checks.that("\n2 reorders of B per step, within matrix products\n" in text,
                    f"stage {stage}: {text}")
        checks.that(reorders == 2, f"stage {stage}: {reorders} reorders")
    planned, _, text, reorders = run(work, model, "--micro-batches=2")
    checks.that("\n4 products per step reorder B first, 2.25 MiB in all\n" in planned, planned)
    checks.that(reorders == 4 and "\n4 reorders of B per step" in text, f"in two turns: {text}")
    for label, rows, *flags in (("few rows", ROWS // 2), ("16 bits", ROWS, "--precision=bf16")):
        planned, _, text, reorders = run(work, make_model(work, rows, 8), *flags)
        checks.that("reorder B" not in planned and "reorders" not in text and reorders == 0,
                    f"{label}: {planned}{text}")
    checks.finish()


if __name__ == "__main__":
    main()
