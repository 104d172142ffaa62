"""predict() against numpy, for sessions that train and for programs without training; metrics in
evaluate() and train(), also of a training that continues.

usage: check_predict.py DATA WORK
"""

import json
import shutil
import sys
import warnings

import numpy as np
import onnx
import zero
from onnx import helper
from zero_test import Checks, Graph

SAMPLES = 150  # no multiple of a global batch


def with_outputs(graph, path, depends=False):
    """The model with its logits and the class that they say; `depends`: and one that reads labels."""
    model = onnx.load(graph.folder / "model.onnx")
    logits = next(node for node in model.graph.node
                  if node.op_type == "SoftmaxCrossEntropyLoss").input[0]
    model.graph.node.append(helper.make_node("ArgMax", [logits], ["top"], axis=1, keepdims=0))
    model.graph.output.append(helper.make_tensor_value_info(logits, 1, [32, 10]))
    model.graph.output.append(helper.make_tensor_value_info("top", 7, [32]))
    if depends:
        model.graph.node.append(helper.make_node("Neg", ["labels"], ["negated"]))
        model.graph.output.append(helper.make_tensor_value_info("negated", 7, [32]))
    onnx.save(model, path)
    return path, logits


def logits_of(state, x):
    """The model in numpy."""
    for layer in ("fc1", "fc2", "fc3"):
        weight, bias = (next(array for name, array in state.items() if name.endswith(f"{layer}.{part}"))
                        for part in ("weight", "bias"))
        x = (x if layer == "fc1" else np.maximum(x, 0)) @ weight.T + bias
    return x


def accuracy(outputs, batch):
    return outputs["top"] == batch["labels"]


def check_training(checks, program, logits, data):
    """Of current weights, in data and in batches of any size."""
    with program.session() as session:
        for steps in (0, 3):
            if steps:
                session.train(data, steps=steps, progress=False)
            expected = logits_of(session.state_dict(), data["x"])
            first = session.predict({"x": data["x"]})
            checks.that(first.keys() == {logits, "top"}, f"{first.keys()}")
            checks.that(first[logits].shape == (SAMPLES, 10) and
                        np.allclose(first[logits], expected, atol=1e-4), f"{steps}: logits")
            checks.that((first["top"] == first[logits].argmax(1)).all(), f"{steps}: classes")
            parts = session.predict((part,) for part in np.split(data["x"], [1, 40]))
            checks.that(np.allclose(parts[logits], first[logits], atol=1e-5), f"{steps}: parts")
            checks.that((session.predict(data["x"])["top"] == first["top"]).all(), f"{steps}: array")
            pairs = session.predict([(data["x"], data["labels"])])
            checks.that((pairs["top"] == first["top"]).all(), f"{steps}: pairs")
            right = (first["top"] == data["labels"]).mean()
            plain = session.evaluate(data)
            for metric in (accuracy, lambda *both: accuracy(*both).mean()):
                values = session.evaluate(data, metrics={"accuracy": metric})
                checks.that(values["loss"] == plain and np.isclose(values["accuracy"], right),
                            f"{steps}: {values}, {plain}, {right}")
            few = session.evaluate(data, batches=1, metrics={"accuracy": accuracy})
            size = zero.Dataset(program, data).samples_per_step
            right = (first["top"] == data["labels"])[:size].mean()
            checks.that(np.isclose(few["accuracy"], right), f"{steps}: one batch: {few}, {right}")


def check_log(checks, program, data, work):
    settings = {"eval_data": data, "eval_every": 2, "metrics": {"accuracy": accuracy},
                "checkpoint": work / "state", "log": work / "log.jsonl", "progress": False}
    with program.session() as session:
        session.train(data, steps=4, **settings)
    with program.session() as session:
        history = session.train(data, steps=6, **settings)
        right = session.evaluate(data, metrics={"accuracy": accuracy})
    lines = [json.loads(line) for line in (work / "log.jsonl").read_text().splitlines()]
    logged = [line["eval_accuracy"] for line in lines if "eval_loss" in line]
    checks.that(len(logged) == 3 and [each["accuracy"] for each in history.metrics] == logged
                and logged[-1] == right["accuracy"], f"{history.metrics}, {logged}, {right}")


def check_errors(checks, graph, program, data):
    path, _ = with_outputs(graph, graph.work / "depends.onnx", depends=True)
    depends = zero.compile(path, ranks=2)
    program.save(graph.work / "loaded.zexe")
    cases = ((depends, {"x": data["x"]}, zero.InvalidArgumentError,
              "output 'negated' depends on input 'labels'"),
             (zero.load(graph.work / "loaded.zexe"), data, zero.InvalidArgumentError,
              "the model of the program is not known"),
             (zero.compile(graph.folder / "model.onnx", ranks=2), data, zero.InvalidArgumentError,
              "expected an output with a row for each of the 32 samples of a rank, got 'loss'"),
             (program, {"labels": data["labels"]}, zero.InvalidArgumentError,
              "no data for input 'x'"),
             (program, [], zero.BadDataError, "expected at least one batch, got none"))
    for each, batch, kind, text in cases:
        with each.session() as session:
            try:
                session.predict(batch)
                checks.that(False, f"no error: {text}")
            except kind as error:
                checks.that(text in str(error), f"{error}")
    with depends.session() as session:
        negated = session.predict(data)["negated"]
    checks.that((negated == -data["labels"]).all(), "an output that reads the labels")
    with program.session() as session:
        try:
            session.evaluate(data, metrics={"bad": lambda outputs, batch: np.zeros(3)})
            checks.that(False, "no error: a metric of three numbers")
        except zero.BadDataError as error:
            checks.that("metric 'bad': expected a number, or one for each of" in str(error), f"{error}")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    warnings.simplefilter("ignore")
    dice = np.random.default_rng(5)
    data = {"x": dice.random((SAMPLES, 784), np.float32), "labels": dice.integers(0, 10, SAMPLES)}
    path, logits = with_outputs(graph, graph.work / "outputs.onnx")
    for flags in ({"stage": 3, "ranks": 2}, {"stage": 1, "ranks": 2, "micro_batches": 2},
                  {"ranks": 1}, {"mesh": {"data": 2, "tensor": 2}},
                  {"ranks": 2, "precision": "bf16"}):
        program = zero.compile(path, optimizer="adamw", lr=1e-3, **flags)
        check_training(checks, program, logits, data)
    check_log(checks, program, data, graph.work)
    with zero.compile(path, ranks=2, forward_only=True).session() as session:
        checks.that(np.allclose(session.predict(data)[logits],
                                logits_of(session.state_dict(), data["x"]), atol=1e-4), "forward only")
    check_errors(checks, graph, program, data)
    checks.finish()


if __name__ == "__main__":
    main()
