"""The cost of a recurrent layer: no kernel writes once per step, no gate is kept from forward to
backward, threads share the batch, and recomputation is bitwise identical.

usage: check_recurrent.py WORK
"""

import re
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, Graph, run_tool

BATCH, WIDTH, LAYERS, VOCABULARY = 16, 32, 3, 40
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def parameters(cell, rng):
    def random(*shape):
        return (rng.uniform(-1, 1, shape) / np.sqrt(WIDTH)).astype(np.float32)

    made = {"embedding.weight": random(VOCABULARY, WIDTH) * 4,
            "head.weight": random(WIDTH, VOCABULARY)}
    rows = GATES[cell] * WIDTH
    for layer in range(LAYERS):
        made |= {f"layers.{layer}.w": random(1, rows, WIDTH),
                 f"layers.{layer}.r": random(1, rows, WIDTH),
                 f"layers.{layer}.b": random(1, 2 * rows)}
    return made


def write_model(path, cell, steps):
    """A language model: layers of `cell` over `steps` tokens of each of BATCH sequences."""
    rng = np.random.default_rng(5)
    nodes = [helper.make_node("Gather", ["embedding.weight", "tokens"], ["y0"], name="gather")]
    attrs = {"linear_before_reset": 1} if cell == "GRU" else {}
    for layer in range(LAYERS):
        nodes += [helper.make_node(cell, [f"y{layer}", *(f"layers.{layer}.{n}" for n in "wrb")],
                                   [f"all{layer}"], name=f"layer{layer}", hidden_size=WIDTH, **attrs),
                  helper.make_node("Squeeze", [f"all{layer}", "one"], [f"y{layer + 1}"],
                                   name=f"squeeze{layer}")]
    nodes += [helper.make_node("MatMul", [f"y{LAYERS}", "head.weight"], ["scores"], name="project"),
              helper.make_node("Reshape", ["scores", "shape"], ["rows"], name="rows"),
              helper.make_node("Reshape", ["labels", "all"], ["flat"], name="flat"),
              helper.make_node("SoftmaxCrossEntropyLoss", ["rows", "flat"], ["loss"], name="loss")]
    tensors = {**parameters(cell, rng), "one": np.array([1]), "all": np.array([-1]),
               "shape": np.array([-1, VOCABULARY])}
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [steps, BATCH])
              for name in ("tokens", "labels")]
    loss = helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])
    graph = helper.make_graph(nodes, cell, inputs, [loss],
                              [numpy_helper.from_array(v, k) for k, v in tensors.items()])
    path.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9),
              path / "model.onnx")
    np.savez(path / "groundtruth.npz",
             **{f"input.{name}": rng.integers(0, VOCABULARY, (steps, BATCH))
                for name in ("tokens", "labels")})


def graph_of(work, cell, steps):
    name = f"{cell.lower()}{steps}"
    write_model(work / name, cell, steps)
    return Graph(work, name, work / f"{name}-run")


def kernels(graph):
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--dump-after=kernels")
    return len(re.findall(r"func\.func private @\w+.*zero\.kernel", text)), len(
        re.findall(r"zero\.launch", text))


def certified(graph, *flags):
    graph.compile(0, 1, *flags)
    return {key: int(value) for key, value in
            re.findall(r"^  (activations|working|arena) +(\d+)", graph.report, re.MULTILINE)}


def check_growth(checks, work, cell):
    """Kernels and launches do not depend on the steps; activations grow only by the states."""
    short, long = graph_of(work, cell, 16), graph_of(work, cell, 144)
    checks.that(kernels(short) == kernels(long), f"{cell}: {kernels(short)}, {kernels(long)}")
    few, many = certified(short), certified(long)
    unit = 4 * BATCH * WIDTH * (144 - 16)  # bytes of one unit's states over the difference in steps
    grown = {key: (many[key] - few[key]) / unit for key in few}
    # Each layer has its states and an LSTM's cells, in addition to the embeddings and the scores.
    kept = LAYERS * (2 if cell == "LSTM" else 1) + 1 + VOCABULARY / WIDTH
    # One layer at a time has the gates and their gradients (and those of the product in a GRU), the
    # states before each step and the gradients of the states.
    at_once = {"RNN": 2, "GRU": 12, "LSTM": 8}[cell] + 2
    for key, most in (("activations", kept), ("working", at_once)):
        checks.that(grown[key] <= most + 0.5, f"{cell}: {key} grow by {grown[key]:.2f} numbers a "
                    f"unit and step, expected {most}")
    return long


def check_bits(checks, graph, cell):
    first = graph.run(graph.compile(0, 1, "--threads-per-rank=2"), 4, "--threads-per-rank=1")
    checks.that(first.losses[-1] < first.losses[0], f"{cell}: losses {first.losses}")
    for flags in (["--checkpoint=layer"], ["--zero-stage=3"], ["--recompute=none"]):
        stage = 3 if "--zero-stage=3" in flags else 0
        other = graph.run(graph.compile(stage, 1, *[f for f in flags if "stage" not in f]), 4)
        checks.that(other.same_bits(first), f"{cell} {flags}: bits differ, {other.losses}")
    threads = graph.run(graph.compile(0, 1, "--threads-per-rank=2"), 4, "--threads-per-rank=2")
    error = np.max(np.abs(threads.losses - first.losses) / first.losses)
    checks.that(error <= 1e-6, f"{cell}: losses on 2 threads differ by {error:.1e}")
    narrow = graph.run(graph.compile(0, 1, "--precision=bf16"), 4)
    error = np.max(np.abs(narrow.losses - first.losses) / first.losses)
    checks.that(error <= 1e-2, f"{cell}: losses in bf16 differ by {error:.1e}")


def main():
    work, checks = Path(sys.argv[1]), Checks()
    for cell in GATES:
        check_bits(checks, check_growth(checks, work, cell), cell)
    checks.finish()


if __name__ == "__main__":
    main()
