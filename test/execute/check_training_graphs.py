"""Trains the training graphs of ONNX Runtime, with an update appended to them.

usage: check_training_graphs.py DATA WORK GRAPH...

The nodes that accumulate gradients are replaced by SGD with momentum. Gradients and the losses of
ten updates are compared with PyTorch's. Of two small graphs, one is trained on ranks with different
numbers of labels and compared with itself on the whole batch; the other has dropout.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from whole_step import WholeStep, check_gradients, write_forward_weights
from zero_test import Checks, read_safetensors, run_tool

RATE, MOMENTUM = 0.05, 0.9
MICROSOFT = "com.microsoft"
STATE = ["--carry=*=*.new", "--zeros=*.speed"]


def constant(graph, name, value, dtype=np.float32):
    graph.initializer.append(numpy_helper.from_array(np.asarray(value, dtype), name))
    return name


def info_like(value, name):
    info = onnx.ValueInfoProto()
    info.CopyFrom(value)
    info.name = name
    return info


def descend(graph, parameter, gradient):
    """Adds SGD with momentum; `parameter` is an input."""
    name = parameter.name
    speed, rate, momentum = name + ".speed", "sgd_rate", "sgd_momentum"
    graph.input.append(info_like(parameter, speed))
    for op, inputs, output in (("Mul", [speed, momentum], name + ".kept"),
                               ("Add", [name + ".kept", gradient], speed + ".new"),
                               ("Mul", [speed + ".new", rate], name + ".change"),
                               ("Sub", [name, name + ".change"], name + ".new")):
        graph.node.append(helper.make_node(op, inputs, [output], name=output))
    graph.output.extend(info_like(parameter, n + ".new") for n in (name, speed))


def descend_all(graph, parameters):
    """Adds updates of the parameters by the names of their gradients."""
    constant(graph, "sgd_rate", RATE)
    constant(graph, "sgd_momentum", MOMENTUM)
    for gradient, parameter in parameters.items():
        descend(graph, parameter, gradient)


def append_updates(model):
    """Replaces the accumulators of gradients by updates."""
    graph = model.graph
    accumulators = [n for n in graph.node if n.op_type == "InPlaceAccumulatorV2"]
    inputs = {i.name: i for i in graph.input}
    for node in accumulators:
        graph.node.remove(node)
    for name in {i for n in accumulators for i in (n.input[0], n.input[2])}:
        graph.input.remove(inputs[name])
    for output in [o for o in graph.output if o.name.endswith(".accumulation.out")]:
        graph.output.remove(output)
    descend_all(graph, {
        n.input[1]: inputs[n.input[0].removesuffix("_grad.accumulation.buffer")]
        for n in accumulators})


def load_graph(data, name, work):
    """A graph of test/data/ort with updates."""
    work.mkdir(parents=True, exist_ok=True)
    model = onnx.load(Path(data) / "ort" / name / "training_model.onnx")
    append_updates(model)
    path, weights = work / "step.onnx", work / "weights.npz"
    onnx.save(model, path)
    write_forward_weights(data, name, path, weights)
    return WholeStep(data, name, work, path, STATE, [f"--weights={weights}"], "sgdm_losses")


def check_losses(checks, graph):
    for ranks in (1, 2):
        first = None
        for stage in (0, 3):
            label = f"{graph.name} stage {stage} on {ranks}"
            losses, weights = graph.train(ranks, f"--zero-stage={stage}")
            error = np.max(np.abs(losses / graph.losses - 1))
            checks.that(error <= 1e-3, f"{label}: losses off by {error:.2e}: {losses}")
            first = first or (losses.tobytes(), weights)
            checks.that(first == (losses.tobytes(), weights), f"{label}: other bits than stage 0")


class Small:
    """A graph of a few nodes with one parameter `w`, that trains for some steps."""

    steps = 3

    def __init__(self, work, rows):
        self.work = work
        work.mkdir(parents=True, exist_ok=True)
        self.graph = onnx.GraphProto(name="small")
        parameter = self.input("w", self.weight.shape)
        self.nodes(rows)
        descend_all(self.graph, {"dw": parameter})
        self.graph.output.append(helper.make_tensor_value_info("loss", TensorProto.FLOAT, []))

    def add(self, op, inputs, *outputs, domain="", **attrs):
        self.graph.node.append(helper.make_node(op, inputs, outputs, name=outputs[0], domain=domain,
                                                **attrs))

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.graph.input.append(helper.make_tensor_value_info(name, kind, shape))
        return self.graph.input[-1]

    def constant(self, name, value, dtype=np.float32):
        return constant(self.graph, name, value, dtype)

    def train(self, ranks, data, *flags):
        """Losses, trained state, and the gradient of the first step."""
        model = helper.make_model(self.graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)])
        path, log = self.work / "small.onnx", self.work / "log.jsonl"
        onnx.save(model, path)
        np.savez(self.work / "data.npz", **data)
        np.savez(self.work / "start.npz", w=self.weight)
        saved, gradients = (self.work / f"{name}.safetensors" for name in ("saved", "gradients"))
        run_tool("zeroc", path, *STATE, f"--ranks={ranks}", *flags, "-o",
                 self.work / "small.zexe")
        run_tool("zero-run", self.work / "small.zexe", f"--data={self.work}/data.npz",
                 f"--weights={self.work}/start.npz", f"--steps={self.steps}", f"--log={log}",
                 f"--save={saved}", f"--dump-gradients={gradients}", "--quiet")
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        return np.array(losses), read_safetensors(saved), read_safetensors(gradients)["w"]


class MaskedLoss(Small):
    """A linear layer and a mean loss, of whose labels -100 is ignored."""

    weight = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)

    def nodes(self, rows):
        self.input("x", (rows, 5))
        self.input("labels", (rows,), TensorProto.INT64)
        self.add("MatMul", ["x", "w"], "scores")
        self.add("SoftmaxCrossEntropyLoss", ["scores", "labels"], "loss", "log_prob",
                 ignore_index=-100)
        self.add("SoftmaxCrossEntropyLossGrad", [self.constant("one", 1), "log_prob", "labels"],
                 "dscores", domain=MICROSOFT, ignore_index=-100, reduction="mean")
        self.add("FusedMatMul", ["x", "dscores"], "dw", domain=MICROSOFT, transA=1)

    def data(self, rng, rows):
        labels = rng.integers(0, 4, rows * self.steps)
        labels[rng.random(labels.size) < 0.4] = -100
        return {"x": rng.normal(size=(rows * self.steps, 5)).astype(np.float32), "labels": labels}


class Dropped(Small):
    """The mean of x w after dropout. It is linear in w, so the gradient times w is the loss if both
    passes drop the same elements."""

    weight, steps = np.linspace(1, 2, 50, dtype=np.float32), 1

    def nodes(self, rows):
        self.input("x", (rows, 50))
        dropout = [self.constant("ratio", 0.4), self.constant("training", True, bool)]
        self.add("Mul", ["x", "w"], "h")
        self.add("Dropout", ["h", *dropout], "y", "mask")
        self.add("ReduceMean", ["y"], "loss", keepdims=0)
        dy = self.constant("dy", np.full((rows, 50), 1 / (50 * rows)))
        self.add("DropoutGrad", [dy, "mask", *dropout], "dh", domain=MICROSOFT)
        self.add("Mul", ["dh", "x"], "each")
        self.add("ReduceSum", ["each", self.constant("axes", [0], np.int64)], "dw", keepdims=0)


def check_dropout(checks, work):
    graph = Dropped(work, 4)
    x = np.random.default_rng(8).uniform(0.5, 1.5, (8, 50)).astype(np.float32)
    for ranks in (1, 2):
        loss, _, gradient = graph.train(ranks, {"x": x})
        expected, kept = (gradient * graph.weight).sum(), (x * graph.weight).mean()
        checks.that(np.isclose(loss[0], expected, rtol=1e-5), f"dropout: {loss}, not {expected}")
        checks.that(0.001 < abs(loss[0] / kept - 1) < 0.3, f"nothing was dropped: {loss}, {kept}")


def check_split_labels(checks, work):
    """Two halves of a batch train as all of it: the mean is over the labels of both."""
    rows = 8
    whole, part = MaskedLoss(work / "whole", rows), MaskedLoss(work / "part", rows // 2)
    data = whole.data(np.random.default_rng(4), rows)
    losses, expected, _ = whole.train(1, data)
    for ranks, flag in ((2, "--zero-stage=0"), (2, "--zero-stage=3"), (1, "--micro-batches=2")):
        got, weights, _ = part.train(ranks, data, flag)
        label = f"masked labels on {ranks} ranks with {flag}"
        checks.that(np.allclose(got, losses, rtol=1e-5), f"{label}: losses {got}, not {losses}")
        for name, value in expected.items():
            checks.that(np.allclose(weights[name], value, rtol=1e-4, atol=1e-6),
                        f"{label}: {name} {weights[name]}, not {value}")


def main():
    data, work, *names = sys.argv[1:]
    checks = Checks()
    for name in names:
        graph = load_graph(data, name, Path(work) / name)
        check_gradients(checks, graph)
        check_losses(checks, graph)
    if "mlp" in names:
        check_split_labels(checks, graph.work / "masked")
        check_dropout(checks, graph.work / "dropped")
    checks.finish()


if __name__ == "__main__":
    main()
