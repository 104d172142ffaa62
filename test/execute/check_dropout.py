"""The mask of Dropout comes from Philox, is the same for any split of the batch, and is absent in
evaluation.

usage: check_dropout.py DATA WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from philox import draw, node_numbers, philox_words

from zero_test import Checks, Graph, check_refused, read_safetensors, run_tool


def check_philox(checks):
    """The known answers of the authors' implementation (Random123, kat_vectors)."""
    ones = 0xFFFFFFFF
    for counter, key, word in (((0,) * 4, (0,) * 2, 0x6627E8D5),
                               ((ones,) * 4, (ones,) * 2, 0x408F276D),
                               ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
                                (0xA4093822, 0x299F31D0), 0xD16CFE09)):
        got = int(philox_words(counter, key)[0])
        checks.that(got == word, f"philox{counter}{key} is {got:x}, not {word:x}")


def save_model(path, ratio, rows):
    """Two Dropouts of the same input, one of them after a product. Their masks are outputs."""
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("MatMul", ["x", "layer.weight"], ["y"]),
             helper.make_node("Dropout", ["y", "ratio", "training"], ["a", "a_mask"], name="first"),
             helper.make_node("Dropout", ["y", "ratio", "training"], ["b", "b_mask"], name="second")]
    shape = [rows, 6, 50]
    outputs = [value(n, TensorProto.FLOAT, shape) for n in "yab"]
    outputs += [value(f"{n}_mask", TensorProto.BOOL, shape) for n in "ab"]
    weight = np.random.default_rng(0).standard_normal((8, 50), np.float32)
    constants = [numpy_helper.from_array(weight, "layer.weight"),
                 numpy_helper.from_array(np.float32(ratio), "ratio"),
                 numpy_helper.from_array(np.bool_(True), "training")]
    graph = helper.make_graph(nodes, "dropout", [value("x", TensorProto.FLOAT, [rows, 6, 8])],
                              outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9),
              path)


def run_model(work, ratio, batch, ranks, *flags, steps=1):
    """The outputs of the last of `steps` steps over the full batch."""
    save_model(work / "model.onnx", ratio, batch // ranks)
    x = np.random.default_rng(1).standard_normal((batch, 6, 8), np.float32)
    np.save(work / "x.npy", x)
    run_tool("zero-run", work / "model.onnx", "--forward-only", f"--ranks={ranks}",
             f"--data=x={work / 'x.npy'}", f"--steps={steps}", "--quiet",
             f"--save-outputs={work / 'outputs.safetensors'}", *flags)
    return read_safetensors(work / "outputs.safetensors")


def check_masks(checks, work):
    ratio, batch = 0.3, 12
    whole = run_model(work, ratio, batch, 1)
    for name in "ab":
        mask, values = whole[f"{name}_mask"], whole[name]
        checks.that(abs(mask.mean() - (1 - ratio)) < 0.02, f"{name} keeps {mask.mean()}")
        expected = np.where(mask, whole["y"] * np.float32(1 / (1 - ratio)), np.float32(0))
        checks.that(np.array_equal(values, expected), f"{name} is not y scaled and masked")
    checks.that(0.5 < (whole["a_mask"] == whole["b_mask"]).mean() < 0.7, "nodes are not independent")
    for ranks in (2, 3, 4):
        parts = run_model(work, ratio, batch, ranks)
        for name in whole:
            checks.that(np.array_equal(parts[name], whole[name]),
                        f"{name} on {ranks} ranks is not that on one")
    again = run_model(work, ratio, batch, 1, steps=2)
    checks.that(not np.array_equal(again["a_mask"], whole["a_mask"]), "two steps have one mask")
    seeded = run_model(work, ratio, batch, 1, "--seed=7")
    checks.that(not np.array_equal(seeded["a_mask"], whole["a_mask"]), "two seeds have one mask")
    ops = read_ops(work)
    check_counter(checks, seeded["a_mask"], (ops["first"], 0), 7, ratio)
    check_counter(checks, again["b_mask"], (ops["second"], 1), 0, ratio)


def read_ops(work):
    """The number of each Dropout."""
    return node_numbers(run_tool("zeroc", work / "model.onnx", "--forward-only", "--plan-only",
                                 "--dump-after=recognise"))


def check_counter(checks, mask, op_and_step, seed, ratio):
    """The mask equals what Philox draws for (element, row, op, step)."""
    drawn = draw(mask.shape, *op_and_step, seed)[0]
    checks.that(np.array_equal(drawn >= np.uint64(ratio * 2**32), mask),
                f"mask of seed {seed}, op and step {op_and_step} is not Philox's")


def check_training(checks, data, work):
    """The exported model trains equally at every stage and split; ratio and mode are checked."""
    graph = Graph(data, "mlp", work)  # both have the same inputs
    graph.folder = Path(data) / "mlp-dropout"
    losses = {}
    for stage, ranks in ((0, 1), (0, 2), (1, 2), (2, 2), (3, 2), (3, 4)):
        result = graph.run(graph.compile(stage, ranks, "--optimizer=adamw", "--lr=1e-3"), 8)
        checks.that(result.losses[-1] < result.losses[0], f"stage {stage} does not train")
        losses.setdefault(ranks, result)
        checks.that(result.same_bits(losses[ranks]), f"stage {stage} on {ranks} differs from stage 0")


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    checks = Checks()
    check_philox(checks)
    work.mkdir(parents=True, exist_ok=True)
    check_masks(checks, work)
    check_training(checks, data, work / "mlp")
    save_model(work / "bad.onnx", 1.0, 4)
    check_refused(checks, "ratio of 1", ["below 1"], "zeroc", work / "bad.onnx", "--forward-only",
                  "--plan-only")
    checks.finish()


if __name__ == "__main__":
    main()
