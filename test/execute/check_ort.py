"""Trains the artifacts of onnxruntime-training, and compares losses with PyTorch's.

usage: check_ort.py DATA WORK GRAPH...

DATA/ort/GRAPH has training_model, eval_model, two optimizer models and a checkpoint. Limit: ten
updates within 1e-3 of the losses. Stages, disks and checkpoints leave the bits as they are.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from whole_step import WholeStep, check_certificate, check_stages, check_tiers
from zero_test import Checks, check_refused, read_safetensors, run_tool

RATE = 1e-3


class Artifacts:
    """A folder of artifacts."""

    def __init__(self, data, name, work):
        self.data, self.name, self.work = Path(data), name, Path(work)
        self.folder = self.data / "ort" / name
        self.work.mkdir(parents=True, exist_ok=True)

    def step(self, optimizer, checkpoint=None):
        flags = [f"--ort-optimizer={optimizer}", f"--lr={RATE}",
                 f"--ort-checkpoint={checkpoint or self.folder / 'checkpoint'}"]
        return WholeStep(self.data, self.name, self.work, self.folder / "training_model.onnx",
                         flags)

    def parameters(self):
        """The initial parameters, which are also those of the forward graph."""
        model = onnx.load(self.data / self.name / "model.onnx")
        return {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}


def sequence(name):
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    return helper.make_value_info(name, kind)


def write_optimizer(path, nodes, names):
    """Writes an optimizer model whose inputs are the rate, perhaps the step, and sequences."""
    inputs = [helper.make_tensor_value_info("learning_rate", TensorProto.FLOAT, [1])]
    if "step" in names:
        inputs.append(helper.make_tensor_value_info("step", TensorProto.INT64, [1]))
    inputs += [sequence(name) for name in names if name != "step"]
    flag = helper.make_tensor_value_info("updated", TensorProto.INT64, [1])
    graph = helper.make_graph(nodes, "optimizer", inputs, [flag])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return path


def microsoft(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, domain="com.microsoft", **attributes)


def sgd(artifacts, max_norm=None):
    """An optimizer model with SGDOptimizerV2, of gradients clipped to a norm."""
    nodes, gradients = [], "gradients"
    if max_norm:
        nodes, gradients = [microsoft("InplaceClipGradNorm", ["gradients"], ["clipped"],
                                      max_norm=max_norm)], "clipped"
    nodes.append(microsoft("SGDOptimizerV2", ["learning_rate", "params", gradients], ["updated"]))
    return write_optimizer(artifacts.work / "sgd.onnx", nodes, ["params", "gradients"])


def adamw(artifacts, **attributes):
    names = ["step", "params", "gradients", "first_order_moments", "second_order_moments"]
    node = microsoft("AdamWOptimizer", ["learning_rate", *names], ["updated"], **attributes)
    return write_optimizer(artifacts.work / "adamw.onnx", [node], names)


def check_update(checks, artifacts, label, optimizer, expected):
    """The first update, from PyTorch's gradients."""
    step = artifacts.step(optimizer)
    step.train(2, "--zero-stage=2", steps=1)
    got = read_safetensors(step.work / "saved.safetensors")
    norm = np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in step.gradients.values()))
    for name, weight in artifacts.parameters().items():
        wanted = expected(weight, step.gradients[name], norm)
        # Updates, not weights, which hardly change; an update is rounded to the weight's last bit.
        bound = 1e-3 * np.abs(wanted - weight).max() + 1.2e-7 * np.abs(weight).max()
        error = np.abs(got[name] - wanted).max()
        checks.that(error <= bound, f"{artifacts.name} {label}: {name}: {error:.2e} > {bound:.2e}")


def check_updates(checks, artifacts):
    check_update(checks, artifacts, "SGD", sgd(artifacts), lambda w, g, norm: w - RATE * g)
    check_update(checks, artifacts, "clipped", sgd(artifacts, 0.01),
                 lambda w, g, norm: w - RATE * g * 0.01 / norm)

    # The first step's corrected moments are the gradient and its square.
    def huggingface(w, g, norm):
        rate = RATE * np.sqrt(1 - 0.99) / (1 - 0.8)
        w = w - rate * 0.2 * g / (np.sqrt(0.01 * g * g) + 1e-3)
        return w - RATE * 0.1 * w

    check_update(checks, artifacts, "HuggingFace",
                 adamw(artifacts, adam_mode=1, alpha=0.8, beta=0.99, epsilon=1e-3,
                       weight_decay=0.1), huggingface)

    def uncorrected(w, g, norm):
        return w * (1 - RATE * 0.1) - RATE * 0.2 * g / (np.sqrt(0.01 * g * g) + 1e-3)

    check_update(checks, artifacts, "uncorrected",
                 adamw(artifacts, adam_mode=0, correct_bias=0, alpha=0.8, beta=0.99,
                       epsilon=1e-3, weight_decay=0.1), uncorrected)


def check_checkpoint(checks, artifacts):
    """Training goes on from the checkpoint that it wrote, and its parameters are evaluated."""
    optimizer = artifacts.folder / "optimizer_model_torch.onnx"
    step = artifacts.step(optimizer)
    losses, weights = step.train(2, "--zero-stage=1")
    trained = artifacts.work / "trained"
    step.train(2, "--zero-stage=1", steps=4, run=[f"--save={trained}"])
    rest, last = artifacts.step(optimizer, trained).train(1, "--zero-stage=0", steps=7)
    checks.that(np.allclose(rest, losses[4:], rtol=1e-6), f"from 'trained': {rest}, not {losses}")
    evaluated = artifacts.work / "evaluated.safetensors"
    run_tool("zero-run", artifacts.folder / "eval_model.onnx", "--forward-only",
             f"--ort-checkpoint={trained}", step.data_flag(1), "--steps=1", "--quiet",
             f"--save-outputs={evaluated}")
    loss = float(read_safetensors(evaluated)["loss"].reshape(()))
    checks.that(abs(loss / losses[4] - 1) <= 1e-5, f"evaluated: {loss}, not {losses[4]}")
    # The parameters of a model that Zero differentiates itself may come from there, too.
    log = artifacts.work / "own.jsonl"
    run_tool("zero-run", artifacts.data / artifacts.name / "model.onnx", f"--weights={trained}",
             step.data_flag(1), "--steps=1", "--quiet", f"--log={log}")
    checks.that(f'"loss":{losses[4]:.4}' in log.read_text(), f"own: {log.read_text()}")


def check_evaluation(checks, artifacts, step):
    """The evaluation model runs forward with the checkpoint's parameters, as in onnxruntime."""
    path, evaluated = artifacts.folder / "eval_model.onnx", artifacts.work / "evaluated.safetensors"
    run_tool("zero-run", path, "--forward-only", step.data_flag(1), "--steps=1", "--quiet",
             f"--ort-checkpoint={artifacts.folder / 'checkpoint'}", f"--save-outputs={evaluated}")
    model = onnx.load(path)
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            del node.output[1:]  # in inference mode onnxruntime 1.31 refuses its own artifacts
    session = onnxruntime.InferenceSession(model.SerializeToString())
    values = artifacts.parameters() | step.inputs
    expected = session.run(["loss"], {i.name: values[i.name] for i in session.get_inputs()})[0]
    loss = float(read_safetensors(evaluated)["loss"].reshape(()))
    checks.that(abs(loss / expected - 1) <= 1e-5, f"{artifacts.name}: {loss}, not {expected}")


def check_own_optimizer(checks, artifacts):
    """Zero's own gradients and optimizer train the evaluation model."""
    step = WholeStep(artifacts.data, artifacts.name, artifacts.work,
                     artifacts.folder / "eval_model.onnx",
                     [f"--ort-checkpoint={artifacts.folder / 'checkpoint'}", "--optimizer=adamw",
                      f"--lr={RATE}", "--weight-decay=0.01"])
    losses, _ = step.train(2, "--zero-stage=3")
    checks.that(np.allclose(losses, step.losses, rtol=1e-4), f"own optimizer: {losses}")


def check_errors(checks, artifacts):
    folder, out = artifacts.folder, ["-o", artifacts.work / "refused.zexe"]
    training, optimizer = folder / "training_model.onnx", folder / "optimizer_model.onnx"
    full = [training, f"--ort-optimizer={optimizer}"]

    def refused(label, words, *arguments):
        check_refused(checks, label, words, "zeroc", *arguments, *out)

    refused("no optimizer", ["accumulates gradients", "--ort-optimizer=FILE"], training)
    refused("both", ["--carry or --ort-optimizer, not both"], *full, "--carry=*=*.new")
    refused("no training model", ["does not accumulate gradients"], folder / "eval_model.onnx",
            f"--ort-optimizer={optimizer}")
    refused("own", ["has its own update"], *full, "--optimizer=sgd")
    refused("missing", ["cannot open"], training, "--ort-optimizer=nothing.onnx")
    refused("no optimizer model", ["expected one AdamWOptimizer or SGDOptimizerV2"], training,
            f"--ort-optimizer={folder / 'eval_model.onnx'}")
    names = ["params", "gradients"]
    swapped = write_optimizer(artifacts.work / "swapped.onnx", [
        microsoft("SGDOptimizerV2", ["learning_rate", "gradients", "params"], ["updated"])], names)
    refused("swapped", ["expected the operands learning_rate, params, gradients"], training,
            f"--ort-optimizer={swapped}")
    mode = adamw(artifacts, adam_mode=2)
    refused("mode", ["expected adam_mode 0 or 1, got 2"], training, f"--ort-optimizer={mode}")
    for label, attributes, words in (
            ("unknown", {"amsgrad": 1}, "attribute 'amsgrad' is not supported"),
            ("type", {"alpha": 1}, "attribute 'alpha' has another type than the operator's")):
        refused(label, [words], training, f"--ort-optimizer={adamw(artifacts, **attributes)}")
    inf = write_optimizer(artifacts.work / "inf.onnx", [
        microsoft("InplaceClipGradNorm", ["gradients"], ["clipped"], norm_type="inf"),
        microsoft("SGDOptimizerV2", ["learning_rate", "params", "clipped"], ["updated"])], names)
    refused("norm", ["expected norm_type 'fro', got 'inf'"], training, f"--ort-optimizer={inf}")
    checkpoint = (folder / "checkpoint").read_bytes()
    damaged = artifacts.work / "damaged"
    for label, data, words in (
            ("truncated", checkpoint[:len(checkpoint) // 2], "damaged or cut off"),
            ("empty", b"", "expected a checkpoint of onnxruntime-training"),
            ("text", b"not a checkpoint of anything", "the identifier ODTC")):
        damaged.write_bytes(data)
        refused(label, ["--ort-checkpoint", words], *full, f"--ort-checkpoint={damaged}")
    refused("other model", ["expected parameters of the model", "'model.resnet", "and 28 more"],
            *full, f"--ort-checkpoint={artifacts.data / 'ort/resnet-tiny/checkpoint'}")
    refused("initializers", ["got no input of that name", "with --weights"],
            artifacts.data / artifacts.name / "model.onnx",
            f"--ort-checkpoint={folder / 'checkpoint'}")
    refused("absent", ["--ort-checkpoint", "nothing"], *full, "--ort-checkpoint=nothing")


def check_without_checkpoint(checks, artifacts):
    """Parameters of other files begin as well; without any the run is refused."""
    optimizer = artifacts.folder / "optimizer_model_torch.onnx"
    weights = artifacts.work / "weights.npz"
    np.savez(weights, **artifacts.parameters())
    step = WholeStep(artifacts.data, artifacts.name, artifacts.work,
                     artifacts.folder / "training_model.onnx",
                     [f"--ort-optimizer={optimizer}", f"--lr={RATE}"], [f"--weights={weights}"])
    losses, _ = step.train(1)
    checks.that(np.allclose(losses, step.losses, rtol=1e-3), f"--weights: {losses}")
    check_refused(checks, "no weights", ["without an initial value", "--weights"], "zero-run",
                  step.compile("--ranks=1"), step.data_flag(1), "--quiet")


def main():
    data, work, *names = sys.argv[1:]
    checks = Checks()
    for name in names:
        artifacts = Artifacts(data, name, f"{work}/{name}")
        step = artifacts.step(artifacts.folder / "optimizer_model_torch.onnx")
        check_stages(checks, step)
        check_tiers(checks, step)
        check_certificate(checks, step)
        check_evaluation(checks, artifacts, step)
        if name == "mlp":
            check_updates(checks, artifacts)
            check_checkpoint(checks, artifacts)
            check_without_checkpoint(checks, artifacts)
            check_own_optimizer(checks, artifacts)
            check_errors(checks, artifacts)
    checks.finish()


if __name__ == "__main__":
    main()
