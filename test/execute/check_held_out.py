"""The loss of held-out data of any size, in any order of micro-batches, whatever is in it.

usage: check_held_out.py WORK

The models are small enough for numpy, in float64: two layers with a batch normalization that is
called twice, and a loss over labels or over samples.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, check_refused, read_safetensors, run_tool

IGNORED, LOCAL, STEPS = -100, 3, 2
random = np.random.default_rng(3)
WEIGHTS = {"l1.weight": random.standard_normal((4, 6)) * .5,
           "bn.weight": 1 + random.standard_normal(6) * .1,
           "bn.bias": random.standard_normal(6) * .1,
           "l2.weight": random.standard_normal((6, 3)) * .5,
           "bn.running_mean": random.standard_normal(6) * .3,
           "bn.running_var": random.uniform(.5, 2, 6)}


def loss_nodes(kind):
    """The loss of scores `s`: over labels, over samples, or of samples that depend on each other."""
    node = helper.make_node
    if kind == "labels":
        return [node("SoftmaxCrossEntropyLoss", ["s", "y"], ["loss"], ignore_index=IGNORED)]
    nodes = [node("Mul", ["s", "s"], ["square"]), node("ReduceMean", ["square"], ["mean"],
                                                       keepdims=0)]
    return nodes + ([node("Identity", ["mean"], ["loss"])] if kind == "samples" else
                    [node("Exp", ["mean"], ["loss"])])


def write_model(path, kind, calls=1):
    """`calls` of the batch normalization, each of which updates its statistics as PyTorch's does."""
    node = helper.make_node
    nodes, inputs = [], []
    for i in range(calls):
        inputs.append(helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, (LOCAL, 4)))
        statistics = ["bn.running_mean", "bn.running_var"]
        if i > 0:  # as PyTorch's exporter writes a second call
            nodes += [node("Identity", [name], [f"{name}.{i}"]) for name in statistics]
            statistics = [f"{name}.{i}" for name in statistics]
        nodes += [node("MatMul", [f"x{i}", "l1.weight"], [f"a{i}"]),
                  node("BatchNormalization", [f"a{i}", "bn.weight", "bn.bias", *statistics],
                       [f"b{i}", f"m{i}", f"v{i}"], momentum=.9, training_mode=1),
                  node("Tanh", [f"b{i}"], [f"c{i}"])]
    nodes.append(node("Sub", ["c0", "c1"], ["c"]) if calls == 2 else node("Identity", ["c0"], ["c"]))
    nodes += [node("MatMul", ["c", "l2.weight"], ["s"]), *loss_nodes(kind)]
    if kind == "labels":
        inputs.append(helper.make_tensor_value_info("y", TensorProto.INT64, (LOCAL,)))
    graph = helper.make_graph(
        nodes, "graph", inputs, [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())],
        [numpy_helper.from_array(value.astype(np.float32), name)
         for name, value in WEIGHTS.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9),
              path)


def samples(count, kind, calls, labels=1.0):
    """`labels`: the share of them that counts."""
    data = {f"x{i}": random.standard_normal((count, 4)).astype(np.float32) * (i + 1)
            for i in range(calls)}
    if kind == "labels":
        data["y"] = np.where(random.random(count) < labels, random.integers(0, 3, count), IGNORED)
    return data


def sums(weights, data, kind):
    """The loss of each sample in evaluation mode, and its weight."""
    def layer(x):
        a = x.astype(np.float64) @ weights["l1.weight"] - weights["bn.running_mean"]
        return np.tanh(a / np.sqrt(weights["bn.running_var"] + 1e-5) * weights["bn.weight"]
                       + weights["bn.bias"])
    c = layer(data["x0"]) - (layer(data["x1"]) if "x1" in data else 0)
    s = c @ weights["l2.weight"]
    if kind != "labels":
        return np.mean(s * s, 1), np.ones(len(s))
    counts = data["y"] != IGNORED
    rows = np.log(np.exp(s).sum(1)) - s[np.arange(len(s)), np.where(counts, data["y"], 0)]
    return rows, counts.astype(float)


def bind(work, name, data):
    for key, value in data.items():
        np.save(work / f"{name}-{key}.npy", value)
    return ",".join(f"{key}={work}/{name}-{key}.npy" for key in data)


class Run:
    """A run with an evaluation at its end."""

    def __init__(self, model, work, data, held, *flags, steps=STEPS):
        log, save = work / "log.jsonl", work / "w.safetensors"
        save.unlink(missing_ok=True)
        command = ["zero-run", model, f"--data={bind(work, 'data', data)}",
                   f"--eval-data={bind(work, 'held', held)}", f"--steps={steps}", "--lr=0.05",
                   "--optimizer=sgd", f"--log={log}", f"--save={save}", *flags]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        self.code, self.said = done.returncode, done.stderr
        self.weights = {**WEIGHTS, **read_safetensors(save)} if save.exists() else None
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        self.losses = [line["eval_loss"] for line in lines if "eval_loss" in line]


def expect(checks, label, run, held, kind, tolerance=2e-6):
    """The mean over all samples, each once."""
    if run.code != 0:
        checks.that(False, f"{label}: {run.said}")
        return
    loss, weight = sums(run.weights, held, kind)
    expected = (loss * weight).sum() / weight.sum()
    checks.that(abs(run.losses[-1] - expected) < tolerance * max(1, abs(expected)),
                f"{label}: {run.losses[-1]}, expected {expected}")


ORDERS = ([], ["--ranks=2", "--zero-stage=3"], ["--micro-batches=2"],
          ["--micro-batches=2", "--micro-batch-order=vertical"],
          ["--ranks=2", "--micro-batches=2", "--micro-batch-order=vertical", "--zero-stage=3",
           "--checkpoint=layer"])


def check_statistics(checks, work):
    """Running statistics are those of the last step, in all orders and calls."""
    for calls in (1, 2):
        write_model(work / "m.onnx", "labels", calls)
        data, held = samples(48, "labels", calls), samples(12, "labels", calls)
        for flags in ORDERS:
            run = Run(work / "m.onnx", work, data, held, *flags, "--check-memory")
            expect(checks, f"{calls} calls, {flags}", run, held, "labels")


def check_second_call(checks, work):
    """The second call continues from the statistics that the first leaves."""
    write_model(work / "m.onnx", "labels", 2)
    data = samples(LOCAL, "labels", 2)
    weights = Run(work / "m.onnx", work, data, data, steps=1).weights
    mean, variance = WEIGHTS["bn.running_mean"], WEIGHTS["bn.running_var"]
    for x in (data["x0"], data["x1"]):
        a = x @ WEIGHTS["l1.weight"]
        mean = .9 * mean + .1 * a.mean(0)
        variance = .9 * variance + .1 * a.var(0, ddof=1)
    for name, expected in (("mean", mean), ("var", variance)):
        checks.that(np.allclose(weights[f"bn.running_{name}"], expected, rtol=1e-5, atol=1e-6),
                    f"running {name}: {weights[f'bn.running_{name}']}, expected {expected}")


def check_sizes(checks, work):
    """Every number of samples, for global batches of 3 and 12."""
    for kind in ("labels", "samples"):
        write_model(work / "m.onnx", kind)
        data = samples(24, kind, 1)
        for flags in (["--ranks=2", "--micro-batches=2"], []):
            for count in (1, 2, 4, 7, 11, 13, 31):
                held = samples(count, kind, 1, labels=.6)
                if kind == "labels":
                    held["y"][-1] = 1
                run = Run(work / "m.onnx", work, data, held, *flags, steps=1)
                expect(checks, f"{count} samples, {kind}, {flags}", run, held, kind)
                checks.that("held-out" not in run.said.replace("have no label", "")
                            and "repeated" not in run.said, f"{count} samples: {run.said}")
    held = samples(20, "samples", 1)
    run = Run(work / "m.onnx", work, data, held, "--ranks=2", "--eval-steps=2", "--eval-every=1")
    expect(checks, "two batches", run, {key: value[:12] for key, value in held.items()}, "samples")


def check_dependent(checks, work):
    """A loss of samples that depend on each other: whole batches alone."""
    write_model(work / "m.onnx", "mixed")
    data, held = samples(24, "mixed", 1), samples(8, "mixed", 1)
    run = Run(work / "m.onnx", work, data, held, steps=1)
    loss, _ = sums(run.weights, held, "mixed")
    expected = np.mean([np.exp(loss[:3].mean()), np.exp(loss[3:6].mean())])
    checks.that(abs(run.losses[-1] - expected) < 1e-5, f"mixed: {run.losses}, not {expected}")
    checks.that("the last 2 held-out samples do not fill" in run.said, f"mixed: {run.said}")
    run = Run(work / "m.onnx", work, data, {"x0": held["x0"][:2]}, steps=1)
    checks.that("2 held-out samples do not fill a global batch and are repeated" in run.said,
                f"mixed, two samples: {run.said}")


def check_bad(checks, work):
    """Batches without labels, losses that are not finite and errors lose nothing of training."""
    write_model(work / "m.onnx", "labels")
    data, held = samples(24, "labels", 1), samples(9, "labels", 1)
    held["y"][3:6] = IGNORED
    for flags in ([], ["--eval-every=1"]):
        run = Run(work / "m.onnx", work, data, held, *flags)
        expect(checks, f"a batch without labels, {flags}", run, held, "labels")
        checks.that("1 of 3 held-out batches have no label" in run.said, run.said)
    held["y"][:] = IGNORED
    run = Run(work / "m.onnx", work, data, held, "--eval-every=1")
    checks.that(run.code == 0 and run.losses == [None, None] and run.weights is not None,
                f"no labels: {run.code}, {run.losses}, {run.said}")
    held["y"][:] = 1
    held["x0"][4] = np.nan
    run = Run(work / "m.onnx", work, data, held)
    checks.that(run.code == 0 and run.losses == [None] and run.weights is not None
                and "the loss of 1 of 3 held-out batches is NaN" in run.said, f"NaN: {run.said}")
    held["y"][4] = 7
    for flags in ([], ["--eval-every=1"]):
        run = Run(work / "m.onnx", work, data, held, *flags)
        checks.that(run.code == 1 and run.weights is not None and "are saved" in run.said,
                    f"a label out of range: {run.code}, {run.said}")
    # Training still needs a label in each batch.
    data["y"][:] = IGNORED
    check_refused(checks, "training", ["no valid label"], "zero-run", work / "m.onnx",
                  f"--data={bind(work, 'data', data)}", "--steps=1")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_statistics(checks, work)
    check_second_call(checks, work)
    check_sizes(checks, work)
    check_dependent(checks, work)
    check_bad(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
