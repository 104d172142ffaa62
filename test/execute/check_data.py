"""Checks the rows that a step reads: batches in order, split over ranks, wrapping at the end.

usage: check_data.py DATA WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from zero_test import Checks, Graph, run_tool


def check_rows(checks, graph, reference, ranks, local, rows, steps):
    """At a learning rate of 0, each loss is that of the rows from step * ranks * local on."""
    label = f"{graph.name}: {rows} rows, {ranks} x {local} a step"
    whole = {name: np.tile(value, (-(-rows // len(value)), *[1] * (value.ndim - 1)))[:rows]
             for name, value in graph.inputs.items()}
    # Rows must differ, so that their order is visible.
    random = np.random.default_rng(1)
    whole = {name: random.permuted(value.reshape(-1)).reshape(value.shape)
             for name, value in whole.items()}
    for name, value in whole.items():
        np.save(graph.work / f"{name}.npy", value)
    shapes = ",".join(f"{name}={'x'.join(map(str, (local, *value.shape[1:])))}"
                      for name, value in whole.items())
    executable = graph.compile(1, ranks, "--optimizer=sgd", f"--shape={shapes}")
    losses = graph.run(executable, steps, "--lr=0").losses
    for step, loss in enumerate(losses):
        batch = ranks * local
        # Rows that do not fill a global batch are skipped; data smaller than a batch wraps.
        first = step % (rows // batch) * batch if rows >= batch else step * batch
        pick = np.arange(first, first + batch) % rows
        expected = reference.run(None, {n: v[pick] for n, v in whole.items()})[0]
        checks.that(abs(loss - expected) <= 2e-6 * expected,
                    f"{label}: step {step}: loss {loss:.7f}, expected {expected:.7f}")


def check_length(checks, graph, reference, batch, length):
    """Binds a symbolic sequence to another length."""
    for name, value in graph.inputs.items():
        graph.inputs[name] = value[:batch, :length]
    graph.write_inputs()
    expected = reference.run(None, graph.inputs)[0]
    for ranks in (1, 2):
        result = graph.run(graph.compile(3, ranks, graph.shape_flag(ranks), "--optimizer=sgd"), 1)
        checks.that(abs(result.losses[0] - expected) <= 2e-6 * expected,
                    f"{batch}x{length} on {ranks}: loss {result.losses[0]:.7f}, not {expected:.7f}")


def check_names(checks, work):
    """Characters that are special in --data may occur in names after a backslash."""
    work.mkdir(parents=True, exist_ok=True)
    name, rows = "a=b,c\\d", np.arange(8, dtype=np.float32).reshape(2, 4)
    nodes = [onnx.helper.make_node("Mul", [name, "module.w"], ["y"]),
             onnx.helper.make_node("ReduceMean", ["y"], ["loss"], keepdims=0)]
    made = onnx.helper.make_graph(
        nodes, "names", [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 4])],
        [onnx.helper.make_tensor_value_info("loss", onnx.TensorProto.FLOAT, [])],
        [onnx.numpy_helper.from_array(np.ones(4, np.float32), "module.w")])
    onnx.save(onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 18)],
                                     ir_version=10), work / "names.onnx")
    np.save(work / "x=y.npy", rows)
    text = run_tool("zero-run", work / "names.onnx", "--steps=1",
                    r"--data=a\=b\,c\d=" + f"{work}/x=y.npy")
    checks.that(f"loss {rows.mean():.6f}" in text, f"names: {text}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp-dynbatch", f"{work}/mlp")
    reference = ReferenceEvaluator(onnx.load(graph.folder / "model.onnx"))
    check_rows(checks, graph, reference, 1, 8, 32, 6)
    check_rows(checks, graph, reference, 2, 8, 64, 6)
    check_rows(checks, graph, reference, 3, 5, 45, 5)
    check_rows(checks, graph, reference, 2, 3, 10, 8)  # 4 rows are skipped
    check_rows(checks, graph, reference, 4, 1, 7, 9)
    check_rows(checks, graph, reference, 2, 4, 6, 5)  # wraps inside a batch
    gpt2 = Graph(data, "gpt2-tiny-dyn", f"{work}/gpt2")
    reference = ReferenceEvaluator(onnx.load(gpt2.folder / "model.onnx"))
    check_length(checks, gpt2, reference, 2, 17)
    check_names(checks, Path(work))
    checks.finish()


if __name__ == "__main__":
    main()
