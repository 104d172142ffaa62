"""--save=FILE.onnx writes the compiled model with the trained weights as its initializers and
changes nothing else. onnxruntime computes from it the loss at the end of training.

usage: check_save.py DATA WORK
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, Graph, check_refused, read_safetensors, relative, run_tool

FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
STEPS = 3


class SavedGraph(Graph):
    """A graph with its model changed or unchanged."""

    def __init__(self, data, name, work, model=None, **kind):
        super().__init__(data, name, work)
        if model:
            self.folder = self.work / "model"
            self.folder.mkdir(exist_ok=True)
            onnx.save(model, self.folder / "model.onnx", **kind)

    def save(self, stage, ranks, folder):
        """Trains and saves both formats; returns the losses of one more step."""
        shutil.rmtree(folder, ignore_errors=True)  # the files of an earlier run
        folder.mkdir(parents=True)
        executable = self.compile(stage, ranks, *FLAGS)
        run_tool("zero-run", executable, self.data_flag, f"--steps={STEPS}", "--quiet",
                 f"--save={folder / 'out.onnx'}", f"--save={folder / 'out.safetensors'}")
        return self.run(executable, STEPS + 1).losses


def runtime_loss(path, inputs):
    onnxruntime.set_default_logger_severity(3)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    return session.run(None, {k: v for k, v in inputs.items() if k in names})[0]


def tensors_of(graph):
    """Initializers, and the values of Constant nodes by the names of their results."""
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            yield node.output[0], node.attribute[0].t


def check_same_model(checks, label, before, after, weights):
    """Only the values of trained parameters differ; otherwise the two files are equal."""
    old, new = dict(tensors_of(before.graph)), dict(tensors_of(after.graph))
    checks.that(list(old) == list(new), f"{label}: other tensors")
    for name, tensor in new.items():
        array = numpy_helper.to_array(tensor)
        if name in weights:
            expected = weights[name].astype(array.dtype)
            checks.that(array.tobytes() == expected.tobytes(), f"{label}: {name} differs")
        else:
            checks.that(array.tobytes() == numpy_helper.to_array(old[name]).tobytes(),
                        f"{label}: {name} has changed")
        tensor.CopyFrom(old[name])
    checks.that(before.SerializeToString() == after.SerializeToString(),
                f"{label}: something else changed")


def check_saved(checks, label, graph, stage, ranks):
    folder = graph.work / f"saved{stage}{ranks}"
    losses = graph.save(stage, ranks, folder)
    path = folder / "out.onnx"
    weights = read_safetensors(folder / "out.safetensors")
    # Besides the parameters there are BatchNormalization's statistics and rotary tables.
    trained = sorted(name for name in weights
                     if ".running_" not in name and not name.endswith(".inv_freq"))
    checks.that(trained == sorted(graph.truth["parameters"]), f"{label}: trained are {trained}")
    statistics = {name for name in weights if ".running_" in name}
    for name, tensor in tensors_of(onnx.load(graph.folder / "model.onnx").graph):
        if ".running_" in name:
            old = numpy_helper.to_array(tensor)
            checks.that(name in statistics and not np.array_equal(old, weights[name]),
                        f"{label}: {name} is not saved, or as it was")
    onnx.checker.check_model(str(path), full_check=True)
    check_same_model(checks, label, onnx.load(graph.folder / "model.onnx"), onnx.load(path),
                     weights)
    left = sorted(p.name for p in folder.iterdir())
    wanted = ["out.onnx", "out.safetensors"]
    if (graph.folder / "model.onnx.data").exists():
        wanted.insert(1, "out.onnx.data")
    checks.that(left == wanted, f"{label}: left {left}")
    return path, losses[STEPS]


def check_runtime(checks, label, graph, stage, ranks):
    path, loss = check_saved(checks, label, graph, stage, ranks)
    error = relative(runtime_loss(path, graph.inputs), loss)
    checks.that(error <= 1e-5, f"{label}: onnxruntime's loss is off by {error:.2e}")


def typed(model):
    """Values of floats and integers as typed fields instead of raw bytes."""
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, array.shape,
                                           array.reshape(-1).tolist()))
    return model


def as_constants(model):
    """A weight as a Constant node."""
    tensor = model.graph.initializer[0]
    node = helper.make_node("Constant", [], [tensor.name], "weight", value=tensor)
    model.graph.node.insert(0, node)
    del model.graph.initializer[0]
    return model


def decorated(model):
    """Unknown parts are kept: metadata, texts, functions, fields."""
    model.doc_string = "of the model"
    model.graph.doc_string = "of the graph"
    model.graph.initializer[0].doc_string = "of a weight"
    model.metadata_props.add(key="who", value="me")
    function = helper.make_function("local", "Twice", ["x"], ["y"],
                                    [helper.make_node("Add", ["x", "x"], ["y"])],
                                    [helper.make_opsetid("", 18)])
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    unknown = bytes([0xfa, 0x3f, 3]) + b"???"  # field 1023, three bytes
    parsed = onnx.ModelProto()
    parsed.ParseFromString(model.SerializeToString() + unknown)
    return parsed


def check_narrow(checks, data, work):
    """Weights of 16 bits are rounded to nearest even. onnxruntime has no kernels for them here, so
    the test compiles the saved file and uses its loss."""
    graph = SavedGraph(data, "gpt2-tiny", work / "bf16", onnx.load(data / "gpt2-tiny-bf16" /
                                                                 "model.onnx"))
    path, loss = check_saved(checks, "bf16", graph, 3, 2)
    graph.folder = path.parent
    path.rename(path.parent / "model.onnx")
    again = graph.run(graph.compile(0, 1, *FLAGS), 1).losses[0]
    checks.that(relative(again, loss) <= 1e-3, f"bf16: the loss is {again}, expected {loss}")


def check_refusals(checks, graph):
    executable = graph.compile(0, 1, *FLAGS)
    model, out = graph.folder / "model.onnx", graph.work / "no.onnx"
    proto = onnx.load(model)
    run = ["zero-run", executable, graph.data_flag]
    check_refused(checks, "over the model", ["model.onnx", "it is an input"], *run,
                  f"--save={model}")
    for label, edit, words in (
            ("another name", lambda t: setattr(t, "name", "other"),
             ["it has no tensor", "is it the file that was compiled"]),
            ("another shape", lambda t: t.dims.insert(0, 1), ["expected shape"]),
            ("another type", lambda t: setattr(t, "data_type", TensorProto.INT32),
             ["expected float32, got int32"])):
        changed = onnx.ModelProto()
        changed.CopyFrom(proto)
        edit(changed.graph.initializer[0])
        onnx.save(changed, model)
        check_refused(checks, label, words, *run, f"--save={out}")
    model.write_bytes(b"no model at all")
    check_refused(checks, "no model", ["model"], *run, f"--save={out}")
    checks.that(not out.exists(), "a refused run left a file")


def main():
    data, work = map(Path, sys.argv[1:3])
    checks = Checks()
    mlp = onnx.load(data / "mlp" / "model.onnx")

    def copy(edit):
        model = onnx.ModelProto()
        model.CopyFrom(mlp)
        return edit(model)

    check_runtime(checks, "mlp", SavedGraph(data, "mlp", work / "mlp", copy(decorated)), 1, 2)
    check_runtime(checks, "typed", SavedGraph(data, "mlp", work / "typed", copy(typed)), 0, 1)
    check_runtime(checks, "constants",
                  SavedGraph(data, "mlp", work / "constants", copy(as_constants)), 3, 2)
    check_runtime(checks, "external", SavedGraph(
        data, "mlp", work / "external", copy(lambda m: m), save_as_external_data=True,
        size_threshold=64, location="model.onnx.data"), 2, 3)
    for name in ("gpt2-tiny-op23", "gpt2-tiny-ts", "llama-tiny", "resnet-tiny"):
        check_runtime(checks, name, SavedGraph(data, name, work / name), 3, 4)
    check_narrow(checks, data, work)
    check_refusals(checks, SavedGraph(data, "mlp", work / "refused", copy(lambda m: m)))
    checks.finish()


if __name__ == "__main__":
    main()
