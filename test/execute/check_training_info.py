"""Trains models as their training_info says, and compares losses and state with ONNX's reference.

usage: check_training_info.py DATA WORK NAME GRAPH

Limit: ten updates within 1e-3 of the losses. Stages, disks and checkpoints leave the bits as they
are. What the training info binds is saved into the model.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from whole_step import STEPS, WholeStep, check_certificate, check_stages, check_tiers
from zero_test import Checks, check_refused, read_safetensors, relative, run_tool


class TrainingInfo(WholeStep):
    """A model of test/data/training-info with the batch of the graph that it was made from."""

    def __init__(self, data, name, graph, work):
        super().__init__(data, graph, work, Path(data) / "training-info" / f"{name}.onnx", [])
        self.name = name
        truth = dict(np.load(self.model.with_suffix(".npz")))
        self.losses = truth["losses"]
        self.final = {k[len("final."):]: v for k, v in truth.items() if k.startswith("final.")}
        proto = onnx.load(self.model)
        bound = {pair.key for pair in proto.training_info[0].update_binding}
        self.state_bytes = sum(len(numpy_helper.to_array(t).tobytes())
                               for t in proto.training_info[0].algorithm.initializer
                               if t.name in bound)

    def zero_run(self, *flags, model=None, steps=STEPS):
        """The losses of a run of the model itself."""
        log = self.work / "log.jsonl"
        run_tool("zero-run", model or self.model, self.data_flag(2), "--ranks=2", "--zero-stage=3",
                 f"--steps={steps}", "--quiet", f"--log={log}", *flags)
        return read_losses(log)


def read_losses(log):
    return [line.split('"loss":')[1].split(",")[0].rstrip("}\n") for line in log.open()]


def initializers(path):
    """All of the model and of its algorithm."""
    model = onnx.load(path)
    tensors = [*model.graph.initializer, *model.training_info[0].algorithm.initializer]
    return {t.name: numpy_helper.to_array(t) for t in tensors}


def check_saved(checks, step):
    """--save=model.onnx has all that is bound, and a run goes on from there."""
    whole = step.zero_run()
    saved = step.work / "saved.onnx"
    losses = step.zero_run(f"--save={saved}", steps=10)
    checks.that(losses == whole[:10], f"{step.name}: {losses} before the file, not {whole}")
    values = initializers(saved)
    for name, expected in step.final.items():
        # Adam makes steps of noise where a gradient is mathematically zero.
        if name.endswith("c_attn.bias"):
            continue
        error = relative(values[name], expected)
        checks.that(error <= 1e-3, f"{step.name}: saved '{name}' off by {error:.2e}")
    checks.that(values["T"] == 10, f"{step.name}: saved T = {values['T']}")
    before = initializers(step.model)
    for name in before.keys() - {p.key for p in onnx.load(saved).training_info[0].update_binding}:
        checks.that(np.array_equal(before[name], values[name]), f"{step.name}: '{name}' changed")
    after = step.zero_run("--keep-initializers", model=saved, steps=1)
    checks.that(after == whole[10:11], f"{step.name}: {after} after the file, not {whole[10]}")


def edited(step, change):
    """A copy of the model that `change` has edited."""
    model = onnx.load(step.model)
    change(model, model.training_info[0])
    path = step.work / "edited.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def check_lists(checks, step):
    """A count that the file has as a list of integers is saved as bytes."""
    def as_list(_, info):
        count = next(t for t in info.algorithm.initializer if t.name == "T")
        count.ClearField("raw_data")
        count.int64_data.append(3)

    saved = step.work / "saved.onnx"
    step.zero_run("--keep-initializers", f"--save={saved}", model=edited(step, as_list), steps=4)
    onnx.checker.check_model(saved)
    checks.that(initializers(saved)["T"] == 7, f"T = {initializers(saved)['T']} after 3 and 4")


def check_forward(checks, step):
    """The model without its training info runs forward."""
    outputs = step.work / "outputs.safetensors"
    run_tool("zero-run", step.model, "--forward-only", f"--save-outputs={outputs}", "--quiet",
             "--steps=1", f"--data=x={step.work / 'x.2.npy'}")
    names = {o.name for o in onnx.load(step.model).graph.output}
    checks.that(read_safetensors(outputs).keys() == names, f"forward gives not {names}")


def check_malformed(checks, step):
    def unknown_key(_, info):
        info.update_binding[1].key = "fc9.weight"

    def unknown_value(_, info):
        info.update_binding[1].value = "nothing"

    def bound_input(_, info):
        info.update_binding[1].key = "x"

    def bound_constant(model, info):
        model.graph.node.append(helper.make_node("Constant", [], ["c"], name="k", value_float=1.0))
        info.update_binding[1].key = "c"

    def bound_twice(_, info):
        info.update_binding[1].key = info.update_binding[0].key

    def wrong_type(_, info):
        info.update_binding[0].value, info.update_binding[1].value = \
            info.update_binding[1].value, info.update_binding[0].value

    def cycle(_, info):
        add = next(n for n in info.algorithm.node if n.output[0] == "T_new")
        info.algorithm.node.append(helper.make_node("Identity", ["T_new"], ["again"], name="back"))
        add.input[1] = "again"

    def no_updates(_, info):
        del info.update_binding[:]

    def several(model, info):
        model.training_info.append(info)

    def bound_shape(model, info):
        model.graph.node.insert(0, helper.make_node("Reshape", ["x", "shape"], ["flat"], name="r"))
        model.graph.node[1].input[0] = "flat"
        model.graph.initializer.append(numpy_helper.from_array(np.array([32, 784]), "shape"))
        info.update_binding[1].key = "shape"

    def unknown_mode(_, info):
        momentum = next(n for n in info.algorithm.node if n.op_type == "Momentum")
        next(a for a in momentum.attribute if a.name == "mode").s = b"heavy"

    def unknown_target(_, info):
        gradient = next(n for n in info.algorithm.node if n.op_type == "Gradient")
        next(a for a in gradient.attribute if a.name == "y").s = b"lost"

    def missing_value(_, info):
        gradient = next(n for n in info.algorithm.node if n.op_type == "Gradient")
        gradient.input.pop()

    def wrong_shape(_, info):
        info.initialization_binding[1].value = info.initialization_binding[2].value

    def unknown_operator(_, info):
        info.initialization.node[-1].op_type = "Softmax"

    cases = [
        (unknown_key, [], ["no initializer is named 'fc9.weight'"]),
        (unknown_value, [], ["no output is named 'nothing'"]),
        (bound_input, [], ["'x' is an input; only an initializer can be updated"]),
        (bound_constant, [], ["'c' is the result of Constant node 'k'"]),
        (bound_shape, [], ["Reshape node 'r'", "'shape' is not a constant: the step updates it"]),
        (bound_twice, [], ["'T' is bound twice"]),
        (wrong_type, [], ["expected a new value of its own type"]),
        (cycle, [], ["the graph has a cycle"]),
        (no_updates, [], ["training_info[0] trains nothing: it has no update_binding"]),
        (several, [], ["the model has 2 training_infos", "--training-info=N"]),
        (several, ["--training-info=2"], ["expected a number from 0 to 1, or none"]),
        (several, ["--training-info=one"], ["expected a number from 0 to 1, or none"]),
        (unknown_mode, [], ["expected mode = 'standard' or 'nesterov', got 'heavy'"]),
        (unknown_target, [], ["nothing defines its input 'lost'"]),
        (missing_value, [], ["expected a value for each tensor of 'xs' and 'zs', 8, got 7"]),
        (wrong_shape, [], ["expected float [128,784], got float [128]"]),
        (unknown_operator, [], ["expected Constant, ConstantOfShape"]),
    ]
    for change, flags, words in cases:
        path = edited(step, change)
        check_refused(checks, change.__name__, words, "zeroc", path, *flags, "-o",
                      step.work / "refused.zexe", notes=True)


def check_options(checks, step):
    refused = {
        "--optimizer=sgd": "has its own update", "--lr=1e-3": "constant of the graph",
        "--precision=bf16": "has its own gradients", "--freeze=fc1*": "trains what it carries",
        "--carry=a=b": "says in its training_info which tensors are carried",
        "--training-info=1": "expected a number from 0 to 0",
        "--forward-only --training-info=0": "no effect with --forward-only",
        "--training-info=none --keep-initializers": "has no effect",
    }
    for flags, words in refused.items():
        check_refused(checks, flags, [words], "zeroc", step.model, *flags.split(), "-o",
                      step.work / "refused.zexe", notes=True)
    plain = step.work / "plain.onnx"
    model = onnx.load(step.model)
    del model.training_info[:]
    plain.write_bytes(model.SerializeToString())
    check_refused(checks, "no info", ["the model has no training_info"], "zeroc", plain,
                  "--training-info=0", "-o", step.work / "refused.zexe")
    run_tool("zeroc", edited(step, lambda model, info: model.training_info.append(info)),
             "--training-info=1", "-o", step.work / "second.zexe")


def main():
    data, work, name, graph = sys.argv[1:]
    checks = Checks()
    step = TrainingInfo(data, name, graph, f"{work}/{name}")
    check_stages(checks, step)
    check_tiers(checks, step)
    check_certificate(checks, step)
    check_saved(checks, step)
    if name == "mlp-momentum":
        check_lists(checks, step)
        check_forward(checks, step)
        check_malformed(checks, step)
        check_options(checks, step)
    checks.finish()


if __name__ == "__main__":
    main()
