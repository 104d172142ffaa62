"""Artifacts, checkpoints and modules of zero.compat.onnxruntime in detail.

usage: check_ort_compat.py DATA SCRIPTS WORK
"""

import gc
import json
import sys
from pathlib import Path

import flatbuffers
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero import _ort_checkpoint as ort
from zero.compat.onnxruntime import (CheckpointError, LinearLRScheduler, OrtValue, TrainingError,
                                     artifacts, onnxblock)
from zero.compat.onnxruntime.api import CheckpointState, Module, Optimizer
from zero.errors import ZeroError
from zero_test import Checks, run_tool

RATE = 1e-3


def raises(checks, label, words, function, *arguments, error=TrainingError, **keywords):
    try:
        function(*arguments, **keywords)
        checks.that(False, f"{label}: no error")
    except error as caught:
        for word in words:
            checks.that(word in str(caught), f"{label}: '{word}' is not in '{caught}'")


def close(checks, label, got, expected, limit=1e-5):
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    same = got.shape == expected.shape
    error = np.abs(got - expected).max() if same else np.inf
    shown = f": {got}, not {expected}" if got.size < 10 else ""
    checks.that(error <= limit, f"{label}: differs by {error:.2e}{shown}")


def load(folder, prefix="", checkpoint="checkpoint", optimizer="optimizer_model.onnx", **keywords):
    state = CheckpointState.load_checkpoint(folder / f"{prefix}{checkpoint}")
    module = Module(folder / f"{prefix}training_model.onnx", state,
                    folder / f"{prefix}eval_model.onnx", **keywords)
    return state, module, Optimizer(folder / f"{prefix}{optimizer}", module)


def train(module, optimizer, batch, steps):
    losses = []
    for _ in range(steps):
        result = module.train()(*batch)
        losses.append(result[0] if isinstance(result, tuple) else result)
        optimizer.step()
        module.lazy_reset_grad()
    return [float(loss) for loss in losses]


def check_their_artifacts(checks, data, work):
    """Files that onnxruntime-training wrote give PyTorch's losses."""
    for name in ("mlp", "gpt2-tiny", "bert-tiny", "resnet-tiny"):
        truth = np.load(data / name / "groundtruth.npz")
        state, module, optimizer = load(data / "ort" / name, optimizer="optimizer_model_torch.onnx")
        checks.that(optimizer.get_learning_rate() == float(np.float32(RATE)), "the first rate")
        batch = [truth[f"input.{each}"] for each in module.input_names()]
        losses = train(module, optimizer, batch, 4)
        close(checks, f"{name}: losses", losses, truth["adamw_losses"][:4], 1e-3)
        path = work / f"{name}.trained"
        CheckpointState.save_checkpoint(state, path, include_optimizer_state=True)
        again, other, second = load(data / "ort" / name, optimizer="optimizer_model_torch.onnx")
        del other, second
        state2 = CheckpointState.load_checkpoint(path)
        module2 = Module(data / "ort" / name / "training_model.onnx", state2)
        optimizer2 = Optimizer(data / "ort" / name / "optimizer_model_torch.onnx", module2)
        close(checks, f"{name}: after a checkpoint", train(module2, optimizer2, batch, 2),
              train(module, optimizer, batch, 2), 1e-6)
        checks.that(len(again.parameters) == len(state.parameters), f"{name}: parameters")


def check_sums(checks, data):
    """Two calls of their training model add up, as their accumulation does."""
    truth = np.load(data / "mlp/groundtruth.npz")
    x, labels = truth["input.x"], truth["input.labels"]
    state, module, _ = load(data / "ort/mlp")
    module(x, labels)
    close(checks, "one call", state.parameters["fc1.weight"].grad, truth["grad.fc1.weight"])
    module(x, labels)
    close(checks, "two calls", state.parameters["fc1.weight"].grad, 2 * truth["grad.fc1.weight"])
    module.lazy_reset_grad()
    checks.that(state.parameters["fc1.weight"].grad is None, "a gradient after lazy_reset_grad()")


def check_tools(checks, work):
    """zero-run trains from a checkpoint of ours, and we from one of zero-run."""
    folder = work / "classifier"
    eval_model, ours = folder / "eval_model.onnx", folder / "state"
    state, module, optimizer = load(folder)
    batch = samples(8)
    losses = train(module, optimizer, batch, 2)
    CheckpointState.save_checkpoint(state, ours)
    np.savez(folder / "data.npz", **dict(zip(module.input_names(), batch)))
    run_tool("zero-run", eval_model, f"--ort-checkpoint={ours}", "--data", folder / "data.npz",
             "--shape=input=8x16,labels=8", "--steps=1", "--lr=0", "--weight-decay=0",
             f"--save={folder / 'theirs'}", f"--log={folder / 'log.jsonl'}", "--quiet",
             "--loss=loss")
    logged = json.loads((folder / "log.jsonl").read_text())["loss"]
    module.eval()
    close(checks, "zero-run's loss", logged, module(*batch)[0])
    theirs = CheckpointState.load_checkpoint(folder / "theirs")
    for name, parameter in state.parameters:
        close(checks, f"zero-run's {name}", theirs.parameters[name].data, parameter.data, 0)
    checks.that(losses[1] < losses[0], f"losses do not fall: {losses}")


def samples(rows, seed=0):
    random = np.random.RandomState(seed)
    return [random.normal(size=(rows, 16)).astype(np.float32), random.randint(0, 4, rows)]


def check_lazy(checks, work):
    """A loss is the same before and after the step, and usable as an array."""
    state, module, optimizer = load(work / "classifier")
    batch = samples(8)
    early, scores = module(*batch)
    before = float(early)
    late, _ = module(*batch)
    module.lazy_reset_grad()
    loss, scores = module(*batch)
    optimizer.step()
    module.lazy_reset_grad()
    close(checks, "read before the step", before, float(loss), 1e-6)
    close(checks, "read after lazy_reset_grad()", float(late), before, 0)
    checks.that(scores.shape == (8, 4), f"scores: {scores.shape}")
    checks.that(float(module(*batch)[0]) < before, "the loss does not fall")
    module.lazy_reset_grad()
    for label, got, expected in (
            ("sum", sum([loss, loss]) / 2, before), ("less", float(loss < before + 1), 1),
            ("numpy", np.mean([loss, loss]), before), ("item", loss.item(), before),
            ("asarray", np.asarray(loss), before), ("round", round(loss, 2), round(before, 2)),
            ("negative", -loss, -before), ("dtype", np.asarray(loss, np.float64), before),
            ("argmax", np.argmax(scores, axis=1), np.asarray(scores).argmax(axis=1)),
            ("index", scores[0, 1], np.asarray(scores)[0, 1]), ("length", len(scores), 8),
            ("iteration", list(scores)[2], np.asarray(scores)[2])):
        close(checks, f"lazy: {label}", got, expected, 1e-6)
    checks.that(f"{loss:.3f}" == f"{before:.3f}" and str(loss) == str(np.float32(before)),
                f"format: {loss} and {loss:.3f}")
    # Inputs may be written after the call.
    batch = samples(8, 1)
    before = float(module.eval()(*batch)[0])
    loss, _ = module.train()(*batch)
    batch[0][:] = 10
    optimizer.step()
    module.lazy_reset_grad()
    close(checks, "an input is copied", float(loss), before, 1e-6)
    # Results that were dropped are not computed.
    module(*samples(8))
    gc.collect()
    computed = []
    run = module.forward_of
    module.forward_of = lambda inputs: computed.append(1) or run(inputs)
    optimizer.step()
    checks.that(not computed, "a dropped result is computed")


def check_sizes(checks, work):
    """Batches of several sizes: the state moves between their programs."""
    losses = []
    for sizes in ([8, 8, 8], [8, 4, 8]):
        state, module, optimizer = load(work / "classifier")
        optimizer.set_learning_rate(0.01)
        for rows in sizes:
            # The same samples twice have the gradient of the samples.
            half = samples(4)
            batch = [np.concatenate([part, part]) if rows == 8 else part for part in half]
            losses.append(module(*batch)[0])
            optimizer.step()
            module.lazy_reset_grad()
        CheckpointState.save_checkpoint(state, work / "sizes", include_optimizer_state=True)
        again = CheckpointState.load_checkpoint(work / "sizes")
        checks.that(again._state.file.step == 3, f"steps: {again._state.file.step}")
    close(checks, "sizes", [float(loss) for loss in losses[3:]],
          [float(loss) for loss in losses[:3]], 1e-6)


def check_ranks(checks, work):
    """Ranks and stages, which onnxruntime-training does not have, and their gradients."""
    results = []
    for flags in ({}, {"ranks": 2, "stage": 3}):
        state, module, optimizer = load(work / "classifier", flags=flags)
        module(*samples(8))
        gradient = state.parameters["fc2.weight"].grad
        module.lazy_reset_grad()
        results.append([*train_pairs(module, optimizer), *gradient.ravel()])
    close(checks, "ranks", results[1], results[0])
    raises(checks, "rows for ranks", ["a multiple of 2 rows", "got 7"],
           lambda: train_pairs(module, optimizer, rows=7))


def train_pairs(module, optimizer, rows=8):
    """Losses of steps of two calls each."""
    losses = []
    for seed in range(4):
        losses.append(module(*samples(rows, seed))[0])
        if seed % 2:
            optimizer.step()
            module.lazy_reset_grad()
    return [float(loss) for loss in losses]


def check_values(checks, work):
    """Values of onnxruntime go in and come out; its own are used by their method numpy()."""
    _, module, _ = load(work / "classifier")
    batch = samples(8)
    expected = float(module.eval()(*batch)[0])
    values = [OrtValue.ortvalue_from_numpy(array) for array in batch]
    for each in (module.eval(), module.train()):
        loss, scores = each(*values)
        checks.that(isinstance(loss, OrtValue) and scores.shape() == [8, 4], f"{type(loss)}")
        close(checks, "a value", loss.numpy(), expected, 1e-6)
        checks.that(scores.data_type() == "tensor(float)", scores.data_type())
    import onnxruntime
    theirs = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in batch]
    close(checks, "theirs", module.eval()(*theirs)[0].numpy(), expected, 0)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    _, module, _ = load(work / "classifier", session_options=options)
    close(checks, "one thread", float(module.eval()(*batch)[0]), expected)


def check_schedule(checks, work):
    _, module, optimizer = load(work / "classifier")
    schedule, rates = LinearLRScheduler(optimizer, 2, 6, 0.1), []
    for _ in range(7):
        rates.append(optimizer.get_learning_rate())
        module(*samples(8))
        optimizer.step()
        module.lazy_reset_grad()
        schedule.step()
    close(checks, "rates", rates, [0, 0.05, 0.1, 0.075, 0.05, 0.025, 0], 1e-7)


def normalized_model():
    """Dropout and BatchNormalization in training mode, and a constant that is not trained."""
    random = np.random.RandomState(3)
    values = {"w": random.normal(size=(4, 16)), "scale": np.ones(4), "shift": np.zeros(4),
              "mean": np.zeros(4), "var": np.ones(4), "ratio": np.array(0.5),
              "factor": np.array(2.0)}
    tensors = [numpy_helper.from_array(value.astype(np.float32), name)
               for name, value in values.items()]
    tensors.append(numpy_helper.from_array(np.array(True), "mode"))
    nodes = [helper.make_node("Gemm", ["x", "w"], ["h"], transB=1),
             helper.make_node("BatchNormalization", ["h", "scale", "shift", "mean", "var"],
                              ["n", "mean1", "var1"], training_mode=1),
             helper.make_node("Mul", ["n", "factor"], ["m"]),
             helper.make_node("Dropout", ["m", "ratio", "mode"], ["y"])]
    graph = helper.make_graph(
        nodes, "normalized", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)


def check_modes(checks, work):
    """Evaluation has running statistics and no dropout; export keeps constants."""
    import onnxruntime
    folder = work / "normalized"
    folder.mkdir(exist_ok=True)
    artifacts.generate_artifacts(normalized_model(), requires_grad=["w", "scale", "shift"],
                                 loss=artifacts.LossType.MSELoss, artifact_directory=folder,
                                 optimizer=artifacts.OptimType.SGD,
                                 additional_output_names=["y"])
    state, module, optimizer = load(folder)
    x = samples(8)[0]
    target = np.zeros((8, 4), np.float32)
    _, y = module(x, target)
    checks.that(0 < np.sum(np.asarray(y) == 0) < 32, f"no dropout in training: {np.asarray(y)}")
    optimizer.step()
    module.lazy_reset_grad()
    module.export_model_for_inferencing(folder / "inference.onnx", ["y"])
    session = onnxruntime.InferenceSession(folder / "inference.onnx")
    expected = session.run(None, {"x": x})[0]
    close(checks, "evaluation", module.eval()(x, target)[1], expected)
    weights = state.parameters["w"].data
    close(checks, "running statistics", expected, 2 * (x @ weights.T) / np.sqrt(1 + 1e-5)
          * state.parameters["scale"].data + 2 * state.parameters["shift"].data, 1e-4)


def check_ignored(checks, work):
    """Labels that do not count: the mean is over the others of the call, and calls add up."""
    folder = work / "ignored"
    folder.mkdir(exist_ok=True)
    artifacts.generate_artifacts(
        make_model(), requires_grad=parameter_names(), artifact_directory=folder,
        loss=onnxblock.loss.CrossEntropyLoss(ignore_index=-100), optimizer=artifacts.OptimType.SGD)
    batches = [samples(8, 1), samples(8, 2)]
    batches[0][1][:5] = -100
    single = []
    for batch in batches:
        state, module, _ = load(folder)
        module(*batch)
        single.append(state.parameters["fc1.weight"].grad)
    state, module, _ = load(folder)
    for batch in batches:
        module(*batch)
    close(checks, "ignored labels", state.parameters["fc1.weight"].grad, single[0] + single[1],
          1e-6)


def check_losses(checks, work):
    """Options of losses, and a model that has its own loss, against numpy."""
    x, labels = samples(8)
    targets = np.random.RandomState(1).uniform(size=(8, 4)).astype(np.float32)
    scores = None
    weights, positive = np.array([1, 2, 3, 4], np.float32), np.array([2, 1, 1, 0.5], np.float32)
    log = lambda value: value - np.log(np.exp(value).sum(1, keepdims=True))
    picked = lambda value: -log(value)[np.arange(8), labels]
    softplus = lambda value: np.logaddexp(0, value)
    cases = {
        "sum": (onnxblock.loss.MSELoss("sum"), targets, lambda s: ((s - targets) ** 2).sum()),
        "l1": (onnxblock.loss.L1Loss("sum"), targets, lambda s: np.abs(s - targets).sum()),
        "weighted": (onnxblock.loss.CrossEntropyLoss(weight=weights), labels,
                     lambda s: (picked(s) * weights[labels]).sum() / weights[labels].sum()),
        "ce-sum": (onnxblock.loss.CrossEntropyLoss(reduction="sum"), labels,
                   lambda s: picked(s).sum()),
        "bce": (onnxblock.loss.BCEWithLogitsLoss(weight=weights, pos_weight=positive), targets,
                lambda s: (weights * (positive * targets * softplus(-s)
                                      + (1 - targets) * softplus(s))).mean())}
    for name, (loss, target, expected) in cases.items():
        folder = work / f"loss-{name}"
        folder.mkdir(exist_ok=True)
        artifacts.generate_artifacts(
            make_model(), requires_grad=parameter_names(), artifact_directory=folder, loss=loss,
            optimizer=artifacts.OptimType.SGD, additional_output_names=["output"])
        _, module, optimizer = load(folder)
        loss, scores = module.eval()(x, target)
        close(checks, f"loss {name}", loss, expected(scores.astype(float)),
              1e-5 * max(1, abs(float(loss))))
        losses = train(module, optimizer, [x, target], 3) if module.train() else []
        checks.that(losses[2] < losses[0], f"loss {name} does not fall: {losses}")
    # Logits for which the logarithm of a sigmoid is infinite.
    state, module, _ = load(work / "loss-bce")
    module.copy_buffer_to_parameters(1e4 * module.get_contiguous_parameters().numpy())
    checks.that(np.isfinite(module.eval()(x, targets)[0]), "BCE of large logits is not finite")


def check_own_loss(checks, data, work):
    """loss=None: the first output is the loss. The model is given as a path."""
    folder = work / "own"
    folder.mkdir(exist_ok=True)
    truth = np.load(data / "mlp/groundtruth.npz")
    names = [t.name for t in onnx.load(data / "mlp/model.onnx").graph.initializer]
    artifacts.generate_artifacts(str(data / "mlp/model.onnx"), requires_grad=names,
                                 artifact_directory=folder, prefix="mlp_",
                                 optimizer=onnxblock.optim.AdamW(eps=1e-8, weight_decay=0.01))
    state, module, _ = load(folder, "mlp_")
    module(truth["input.x"], truth["input.labels"])
    for name in names:
        close(checks, f"own loss: {name}", state.parameters[name].grad, truth[f"grad.{name}"], 1e-6)


class Shared:
    """A table that is in the file once, however many lists have it."""

    def __init__(self, kind, **fields):
        self.table, self.place = kind(), None
        vars(self.table).update(fields)

    def Pack(self, builder):
        if self.place is None:
            self.place = self.table.Pack(builder)
        return self.place


def checkpoint_of_shared_lists():
    """A file of 8 KB with a million tensors."""
    moments = [Shared(ort.TensorT, name="moment", dims=[], dataType=1, rawData=[0] * 4)] * 1000
    states = [Shared(ort.ParameterOptimizerStateT, paramName="x", momentums=moments)] * 1000
    group = Shared(ort.OptimizerGroupT, groupName="group0", optimizerStates=states)
    builder = flatbuffers.Builder(1024)
    file = Shared(ort.CheckpointT, version=2, optimizerGroups=[group])
    builder.Finish(file.Pack(builder), b"ODTC")
    return bytes(builder.Output())


def check_checkpoints(checks, data, work):
    """Values, properties and files that are damaged."""
    state = CheckpointState.load_checkpoint(data / "ort/mlp/checkpoint")
    state.properties["epoch"], state.properties["note"] = np.int64(3), "text"
    state.properties["rate"] = 0.5
    CheckpointState.save_checkpoint(state, work / "saved")
    again = CheckpointState.load_checkpoint(work / "saved")
    checks.that(dict(again.properties) == {"epoch": 3, "note": "text", "rate": 0.5},
                f"properties: {dict(again.properties)}")
    checks.that("epoch" in again.properties and len(again.properties) == 3, "properties")
    for name, parameter in state.parameters:
        checks.that(np.array_equal(again.parameters[name].data, parameter.data), f"value of {name}")
    for key in ("properties", "parameters"):
        raises(checks, key, ["nothing not found"], lambda: getattr(state, key)["nothing"],
               error=KeyError)
    raises(checks, "a list", ["an int, a float or a string"],
           lambda: state.properties.__setitem__("x", [1]), error=TypeError)
    raises(checks, "shape", ["of shape (10,)", "got float32 of shape (3,)"],
           lambda: state.parameters.__setitem__("fc3.bias", np.zeros(3, np.float32)))
    raises(checks, "no state", ["load_checkpoint"], CheckpointState, "checkpoint", error=TypeError)
    content = (work / "saved").read_bytes()
    for label, bad, words in (("empty", b"", ["ODTC"]), ("text", b"no checkpoint", ["ODTC"]),
                              ("half", content[:len(content) // 2], ["damaged or cut off"]),
                              ("shared", checkpoint_of_shared_lists(), ["lists overlap"])):
        (work / "bad").write_bytes(bad)
        raises(checks, label, words, CheckpointState.load_checkpoint, work / "bad",
               error=CheckpointError)
    # Lists whose lengths are damaged are no reason to ask for memory or to crash.
    random = np.random.RandomState(0)
    for _ in range(400):
        bad = bytearray(content)
        for position in [*random.randint(8, 400, 2), *random.randint(len(bad) - 900, len(bad), 2)]:
            bad[position] = random.randint(256)
        (work / "bad").write_bytes(bad)
        try:
            CheckpointState.load_checkpoint(work / "bad")
        except CheckpointError:
            pass
    checks.that(issubclass(CheckpointError, ZeroError), "classes of errors")
    raises(checks, "absent", ["absent"], CheckpointState.load_checkpoint, work / "absent",
           error=FileNotFoundError)


def check_order(checks, work):
    """Calls in an order in which gradients would be others."""
    state, module, optimizer = load(work / "classifier")
    batch = samples(8)
    raises(checks, "no call", ["a call of the module in training mode"], optimizer.step)
    module(*batch)
    state.parameters["fc3.bias"] = np.ones(4, np.float32)
    raises(checks, "changed", ["parameters were changed"], optimizer.step)
    module.lazy_reset_grad()
    module(*batch)
    optimizer.step()
    raises(checks, "no reset", ["lazy_reset_grad()"], module, *batch)
    module.lazy_reset_grad()
    module(*batch)
    module(*samples(4))
    raises(checks, "other rows", ["inputs of the same shapes"], optimizer.step)
    raises(checks, "inputs", ["expected 2 inputs (input, labels), got 1"], module, batch[0])
    raises(checks, "second", ["without a Module"], Module, work / "classifier/training_model.onnx",
           state)
    raises(checks, "buffer", ["a buffer of 1108 elements, got 3"], module.copy_buffer_to_parameters,
           np.zeros(3, np.float32))
    raises(checks, "output", ["got 'nothing'"], module.export_model_for_inferencing,
           work / "x.onnx", ["nothing"])
    raises(checks, "device", ["'cpu', got 'cuda:0'"], Module, "x", None, device="cuda:0")
    fresh = CheckpointState.load_checkpoint(work / "classifier/checkpoint")
    raises(checks, "no training model", ["generate_artifacts"], Module,
           work / "classifier/eval_model.onnx", fresh)
    raises(checks, "no model", ["in the format of ONNX"], Module,
           work / "classifier/checkpoint", fresh)
    nominal, module, optimizer = load(work / "classifier", checkpoint="nominal_checkpoint")
    raises(checks, "nominal", ["is nominal", "'fc1.bias' and 5 more"], module, *batch)
    raises(checks, "nominal data", ["is nominal"], lambda: nominal.parameters["fc1.bias"].data)
    module = Module(work / "classifier/training_model.onnx", fresh)
    raises(checks, "no evaluation", ["eval_model_uri"], module.eval(), *batch)


def check_arguments(checks, work):
    make = artifacts.generate_artifacts
    names, model = parameter_names(), make_model()
    common = {"loss": artifacts.LossType.MSELoss, "artifact_directory": work}
    for label, words, arguments in (
            ("ort_format", ["ort_format is not supported"], {"ort_format": True}),
            ("custom", ["custom_op_library is not supported"], {"custom_op_library": "x.so"}),
            ("nothing trained", ["requires_grad", "got none"], {"requires_grad": None}),
            ("unknown", ["requires_grad", "got 'fc9'"], {"requires_grad": ["fc9"]}),
            ("both", ["not in both"], {"frozen_params": names[:1]}),
            ("loss", ["artifacts.LossType"], {"loss": "mse"}),
            ("optimizer", ["artifacts.OptimType"], {"optimizer": "adam"}),
            ("outputs", ["got 'hidden'"], {"additional_output_names": ["hidden"]}),
            ("unused", ["does not depend on 'fc3.weight'"],
             {"loss": None, "loss_input_names": ["/fc2/Gemm_output_0"]})):
        raises(checks, label, words, make, model,
               **({"requires_grad": names} | common | arguments))
    raises(checks, "model", ["a path or an onnx.ModelProto"], make, 3, names)
    raises(checks, "block", ["generate_artifacts"], onnxblock.blocks.Add(), "a", "b")
    checks.that(model.SerializeToString() == make_model().SerializeToString(), "a changed model")


def main():
    global make_model, parameter_names
    data, scripts, work = (Path(argument) for argument in sys.argv[1:])
    sys.path.insert(0, str(scripts))
    from mlp import make_model, parameter_names
    (work / "classifier").mkdir(parents=True, exist_ok=True)
    artifacts.generate_artifacts(
        make_model(), requires_grad=parameter_names(), loss=artifacts.LossType.CrossEntropyLoss,
        optimizer=artifacts.OptimType.AdamW, artifact_directory=work / "classifier",
        additional_output_names=["output"], nominal_checkpoint=True)
    checks = Checks()
    check_their_artifacts(checks, data, work)
    check_sums(checks, data)
    check_tools(checks, work)
    for check in (check_lazy, check_sizes, check_ranks, check_values, check_schedule, check_modes,
                  check_ignored, check_losses, check_order, check_arguments):
        check(checks, work)
    check_own_loss(checks, data, work)
    check_checkpoints(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
