"""Emits training steps as plain ONNX and trains them in onnxruntime and again in Zero.

usage: check_emit_onnx.py DATA WORK NAME...

NAME is a graph of test/data, or one of the checks of CHECKS. Limit: losses of ten updates within 1e-5
of those of Zero, of PyTorch within 1e-5 as well.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper, shape_inference

from zero_test import Checks, Failed, Graph, run_tool

STEPS = 11
TOLERANCE = 1e-5
# Of gpt2-mini, whose last steps repeat the rounding of the first ones: 1.5e-5 where products are
# added by AVX-512.
TOLERANCE_OF_MINI = 5e-5
ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
SGD = ["--optimizer=sgd", "--lr=0.05", "--momentum=0.9"]
# Zero does not train these again: their updates are written for blocks of a tensor, or need sums
# over rows and columns, or products.
OF_TENSORS = ["--optimizer=lamb", "--optimizer=adafactor", "--optimizer=muon", "--optimizer=shampoo"]


def shape_of(value):
    return [d.dim_value for d in value.type.tensor_type.shape.dim]


class Step:
    """An emitted step: its inputs, the state among them, and its losses."""

    def __init__(self, path, inputs):
        self.path = Path(path)
        model = onnx.load(path)
        onnx.checker.check_model(str(path), full_check=True)
        # With types in value_info, inference also compares them.
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        self.operators = {(node.domain, node.op_type) for node in model.graph.node}
        self.initial = {t.name: t for t in model.graph.initializer}
        self.outputs = [o.name for o in model.graph.output]
        self.state = {i.name: i for i in model.graph.input if i.name + ".new" in self.outputs}
        names = {i.name for i in model.graph.input}
        self.data = {name: value for name, value in inputs.items() if name in names}
        self.zeros = [name for name in self.state if name not in self.initial]

    def train(self, rate=None):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # warns of inputs with a default
        session = onnxruntime.InferenceSession(str(self.path), options)
        feeds = dict(self.data)
        for name in self.zeros:
            kind = self.state[name].type.tensor_type.elem_type
            feeds[name] = np.zeros(shape_of(self.state[name]), helper.tensor_dtype_to_np_dtype(kind))
        if rate is not None:
            feeds["learning_rate"] = np.array(rate, np.float32)
        losses = []
        for _ in range(STEPS):
            results = dict(zip(self.outputs, session.run(self.outputs, feeds)))
            losses.append(results["loss"])
            feeds |= {name: results[name + ".new"] for name in self.state}
        return np.array(losses, np.float64)

    def zeros_flag(self):
        """--zeros for the states without an initial value."""
        return ["--zeros=" + ",".join(self.zeros)] if self.zeros else []


class Trainer:
    def __init__(self, checks, work, model, inputs):
        self.checks, self.work, self.model, self.inputs = checks, Path(work), model, inputs
        self.work.mkdir(parents=True, exist_ok=True)

    def zero(self, model, *flags, ranks=1):
        """Losses of zero-run, each rank with the whole batch."""
        log = self.work / "log.jsonl"
        data = []
        for name, value in self.inputs.items():
            np.save(self.work / f"{name}.npy", np.concatenate([value] * ranks))
            data.append(f"{name}={self.work / name}.npy")
        executable = self.work / "step.zexe"
        run_tool("zeroc", model, *flags, f"--ranks={ranks}", "-o", executable)
        run_tool("zero-run", executable, "--data=" + ",".join(data), f"--steps={STEPS}", "--quiet",
                 f"--log={log}")
        return np.array([json.loads(line)["loss"] for line in log.read_text().splitlines()])

    def emit(self, *flags, name="step.onnx"):
        path = self.work / name
        run_tool("zeroc", self.model, *flags, f"--emit-onnx={path}")
        step = Step(path, self.inputs)
        self.inputs = step.data
        other = {domain for domain, _ in step.operators} - {""}
        self.checks.that(not other, f"{path}: operators of {other}")
        return step

    def same(self, label, losses, expected, within=TOLERANCE):
        error = np.max(np.abs(losses / expected - 1))
        self.checks.that(error <= within, f"{label}: off by {error:.1e}: {losses}, not {expected}")

    def check(self, label, *flags, truth=None, again=True):
        """The emitted step in onnxruntime, Zero with the same flags, and Zero with the step."""
        step = self.emit(*flags)
        losses = step.train()
        self.same(f"{label}: Zero", self.zero(self.model, *flags), losses)
        if truth is not None:
            self.same(f"{label}: PyTorch", losses, truth)
        if again:
            carried = ["--carry=*=*.new", *step.zeros_flag()]
            self.same(f"{label}: again", self.zero(step.path, *carried, "--zero-stage=3", ranks=2),
                      losses)
        return step, losses


def check_graph(checks, data, work, name):
    graph = Graph(data, name, work / name)
    trainer = Trainer(checks, work / name, graph.folder / "model.onnx", graph.inputs)
    trainer.check(f"{name} adamw", *ADAMW, truth=graph.truth["adamw_losses"])
    if "sgdm_losses" in graph.truth:
        trainer.check(f"{name} sgd", *SGD, truth=graph.truth["sgdm_losses"])


def mlp(checks, data, work):
    graph = Graph(data, "mlp", work)
    return Trainer(checks, work, graph.folder / "model.onnx", graph.inputs)


def check_optimizers(checks, data, work):
    """Each optimizer, each schedule, clipping, groups and frozen parameters."""
    trainer = mlp(checks, data, work)
    names = [o["name"] for o in json.loads(run_tool("zeroc", "--list-optimizers"))]
    for name in names:
        flag = f"--optimizer={name}"
        trainer.check(name, flag, "--lr=0.01", again=flag not in OF_TENSORS)
    trainer.check("clipped", *ADAMW, "--clip-norm=0.1")
    trainer.check("lamb, clipped", "--optimizer=lamb", "--clip-norm=0.1", again=False)
    for schedule in ("linear", "cosine"):
        trainer.check(schedule, *SGD, f"--lr-schedule={schedule}", "--warmup-steps=3",
                      "--total-steps=9", "--min-lr-ratio=0.1")
    trainer.check("inverse-sqrt", *SGD, "--lr-schedule=inverse-sqrt", "--warmup-steps=4")
    trainer.check("groups", *ADAMW, "--no-decay=*.bias", "--param-group=fc2.*:lr-scale=3")
    step, _ = trainer.check("frozen", *ADAMW, "--freeze=fc1.*")
    checks.that("fc1.weight" not in step.state and "fc1.weight" in step.initial,
                "frozen parameters are not constants of the graph")


def check_learning_rate(checks, data, work):
    """--lr is the default of an input."""
    trainer = mlp(checks, data, work)
    step = trainer.emit(*SGD)
    checks.that(numpy_helper.to_array(step.initial["learning_rate"]) == np.float32(0.05),
                "--lr is not the default of learning_rate")
    trainer.same("learning rate", step.train(rate=0.2),
                 trainer.zero(trainer.model, *SGD[:1], "--lr=0.2", SGD[2]))


def check_dropout(checks, data, work):
    """The same random numbers as in Zero: Philox is integer arithmetic."""
    rng = np.random.default_rng(0)
    model = Path(data) / "mlp-dropout" / "model.onnx"
    inputs = {i.name: rng.integers(0, 10, shape_of(i)) if "label" in i.name
              else rng.normal(size=shape_of(i)).astype(np.float32)
              for i in onnx.load(model).graph.input}
    trainer = Trainer(checks, work, model, inputs)
    step, losses = trainer.check("dropout", *SGD, "--seed=5")
    checks.that("step" in step.state, "dropout: no state 'step'")
    other = trainer.emit(*SGD, "--seed=6", name="other.onnx").train()
    checks.that(not np.allclose(other, losses, rtol=1e-6), "dropout: the seed has no effect")


def check_external_data(checks, data, work):
    """Tensors in a file of their own, from a model that has one."""
    graph = Graph(data, "gpt2-mini", work)
    trainer = Trainer(checks, work, graph.folder / "model.onnx", graph.inputs)
    step = trainer.emit(*ADAMW, "--external-data")
    size, beside = (Path(f"{step.path}{suffix}").stat().st_size for suffix in ("", ".data"))
    checks.that(size < 2**20 < beside, f"external data: {size} and {beside} bytes")
    losses = step.train()
    trainer.same("external data", losses[[0, -1]], graph.truth["adamw_losses"][[0, -1]])
    carried = ["--carry=*=*.new", *step.zeros_flag()]
    trainer.same("external data, again", trainer.zero(step.path, *carried), losses,
                 TOLERANCE_OF_MINI)


def check_whole_steps(checks, data, work):
    """A model that is a whole step is written with what Zero found in it."""
    graph = Graph(data, "mlp", work)
    carried = ["--carry=*=*.new", "--zeros=*.exp_avg,*.exp_avg_sq,step"]
    trainer = Trainer(checks, work, Path(data) / "whole-step" / "mlp.onnx", graph.inputs)
    step = trainer.emit(*carried)
    checks.that("step" in step.state and "fc1.weight.exp_avg" in step.state,
                f"whole step: state {sorted(step.state)}")
    weights = {t.name: numpy_helper.to_array(t)
               for t in onnx.load(graph.folder / "model.onnx").graph.initializer}
    step.data |= {name: weights[name] for name in step.zeros if name in weights}
    step.zeros = [name for name in step.zeros if name not in weights]
    trainer.same("whole step", step.train(), graph.truth["adamw_losses"])


def check_errors(checks, data, work):
    trainer = mlp(checks, data, work)
    out = work / "refused.onnx"
    emit = f"--emit-onnx={out}"
    lstm = Path(data) / "lstm-tiny" / "model.onnx"
    cases = {
        (emit, "--ranks=2"): "--ranks=2 has no effect with --emit-onnx",
        (emit, "--precision=bf16"): "--precision=bf16 has no effect with --emit-onnx",
        (emit, "--micro-batches=2"): "--micro-batches=2 has no effect with --emit-onnx",
        (emit, "--forward-only"): "--forward-only has no effect with --emit-onnx",
        (emit, "--memory-budget=1GB"): "--memory-budget=1GB has no effect with --emit-onnx",
        (emit, "--offload-optimizer=host"): "has no effect with --emit-onnx",
        (emit, "-o", work / "x.zexe"): "has no effect with --emit-onnx",
        (f"--emit-onnx={work}/step.pb",): "expected a name that ends in .onnx",
        (f"--emit-onnx={work}/missing/step.onnx",): "is missing or not writable",
        (f"--emit-onnx={trainer.model}",): "would overwrite the input",
        ("--external-data", "--plan-only"): "--external-data: expected --emit-onnx",
    }
    for flags, words in cases.items():
        check_error(checks, trainer.model, flags, words)
    # The tensors would go to the file that has those of the model.
    beside = work / "weights.onnx.data"
    model = onnx.load(trainer.model)
    onnx.save(model, work / "other.onnx", save_as_external_data=True, location=beside.name,
              size_threshold=0)
    before = beside.read_bytes()
    check_error(checks, work / "other.onnx", (f"--emit-onnx={work}/weights.onnx", "--external-data"),
                "would overwrite initial values of the model")
    checks.that(beside.read_bytes() == before, f"{beside} was overwritten")
    check_error(checks, lstm, (emit,), "LSTM node")
    check_error(checks, lstm, (emit,), "has no form in plain ONNX operators")
    checks.that(not out.exists(), f"{out} was written in spite of errors")


def check_error(checks, model, flags, words):
    try:
        run_tool("zeroc", model, *flags)
        checks.that(False, f"{flags}: not refused")
    except Failed as error:
        checks.that(words in str(error), f"{flags}: {error}")


CHECKS = {
    "optimizers": check_optimizers, "learning-rate": check_learning_rate,
    "dropout": check_dropout, "external-data": check_external_data,
    "whole-steps": check_whole_steps, "errors": check_errors,
}


def main():
    data, work, *names = sys.argv[1:]
    checks = Checks()
    for name in names:
        folder = Path(work) / name
        folder.mkdir(parents=True, exist_ok=True)
        if name in CHECKS:
            CHECKS[name](checks, data, folder)
        else:
            check_graph(checks, data, Path(work), name)
    checks.finish()


if __name__ == "__main__":
    main()
