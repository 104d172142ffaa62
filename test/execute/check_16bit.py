"""Models whose weights are bf16 or f16 train as fp32. The result is bitwise identical to that of a
model with the same weights in fp32, at every stage and number of ranks. ONNX's Python package
creates the fp32 model here.

usage: check_16bit.py DATA WORK

The error of rounding the weights to bf16 belongs to the model: PyTorch's fp32 results for the
unrounded weights agree only up to that rounding (2^-9 of each weight).
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

from zero_test import Checks, Graph, relative

FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
NARROW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


def retype(model, is_from, to):
    """Changes the element type of all float tensors of `model` for which `is_from` holds."""
    for tensor in model.graph.initializer:
        if is_from(tensor.data_type):
            dtype = onnx.helper.tensor_dtype_to_np_dtype(to)
            array = numpy_helper.to_array(tensor).astype(dtype)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and is_from(attribute.i):
                attribute.i = to
    infos = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    for info in infos:
        if is_from(info.type.tensor_type.elem_type):
            info.type.tensor_type.elem_type = to
    return model


class NarrowGraph(Graph):
    """Another model with the batch and ground truth of gpt2-tiny."""

    def __init__(self, data, work, model, **kind):
        super().__init__(data, "gpt2-tiny", work)
        self.folder = Path(work)
        onnx.save(model, self.folder / "model.onnx", **kind)


def f16_model(data):
    """gpt2-tiny with a cast to fp32 before its loss, as mixed precision exports it."""
    model = onnx.load(data / "gpt2-tiny" / "model.onnx")
    loss = model.graph.node[-1]
    assert loss.op_type == "SoftmaxCrossEntropyLoss"
    # The mask's lowest numbers exceed the range of f16; the expected model has -inf there, too.
    with np.errstate(over="ignore"):
        model = retype(model, lambda t: t == TensorProto.FLOAT, TensorProto.FLOAT16)
    cast = onnx.helper.make_node("Cast", [loss.input[0]], ["wide"], "wide", to=TensorProto.FLOAT)
    loss.input[0] = "wide"
    model.graph.node.insert(len(model.graph.node) - 1, cast)
    del model.graph.value_info[:]
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
    return model


def check_twin(checks, label, narrow, twin, ranks, stages):
    expected = twin.run(twin.compile(0, ranks, *FLAGS), 6)
    for stage in stages:
        result = narrow.run(narrow.compile(stage, ranks, *FLAGS), 6)
        # Integers of a separate file are weights, those in the model are not.
        result.weights = {k: v for k, v in result.weights.items() if v.dtype.kind == "f"}
        at = f"{label} stage {stage} on {ranks}"
        checks.that("16-bit floats are trained as f32" in narrow.report, f"{at}: not said")
        checks.that(result.same_bits(expected), f"{at}: other bits than the fp32 twin's")
        checks.that(len(result.gradients) == 28 and all(
            np.array_equal(result.gradients[k], v) for k, v in expected.gradients.items()),
            f"{at}: other gradients than the fp32 twin's")
        checks.that(all(w.dtype == np.float32 for w in result.weights.values()),
                    f"{at}: weights are saved as {set(w.dtype for w in result.weights.values())}")
    return expected


def check_reference(checks, label, twin, result):
    inputs = {name: value for name, value in twin.inputs.items()}
    (loss,) = ReferenceEvaluator(onnx.load(twin.folder / "model.onnx")).run(None, inputs)
    error = relative(result.losses[0], loss)
    checks.that(error <= 1e-5, f"{label}: loss is off ONNX's by {error:.2e}")


def check_torch(checks, label, graph, result, loss_off, gradients_off):
    error = np.max(np.abs(result.losses / graph.truth["adamw_losses"][:6] - 1))
    checks.that(error <= loss_off, f"{label}: losses are off PyTorch's by {error:.2e}")
    worst = max(relative(result.gradients[name], graph.truth["grad." + name])
                for name in result.gradients if not name.endswith("c_attn.bias"))
    checks.that(worst <= gradients_off, f"{label}: gradients are off PyTorch's by {worst:.2e}")


def main():
    data, work = map(Path, sys.argv[1:3])
    checks = Checks()
    models = {"bf16": onnx.load(data / "gpt2-tiny-bf16" / "model.onnx"), "f16": f16_model(data)}
    plans = {"bf16": ((1, 2, 4), (0, 1, 2, 3)), "f16": ((2,), (0, 3))}
    # The f16 model stores its weights in a separate file.
    kinds = {"bf16": {}, "f16": {"save_as_external_data": True, "size_threshold": 256,
                                 "location": "model.onnx.data"}}
    bounds = {"bf16": (1e-3, 2e-2), "f16": (1e-4, 2e-3)}
    for label, model in models.items():
        wide = onnx.ModelProto()
        wide.CopyFrom(model)
        twin = NarrowGraph(data, work / f"{label}-twin",
                           retype(wide, lambda t: t in NARROW, TensorProto.FLOAT))
        narrow = NarrowGraph(data, work / label, model, **kinds[label])
        ranks, stages = plans[label]
        for count in ranks:
            result = check_twin(checks, label, narrow, twin, count, stages)
            check_torch(checks, f"{label} on {count}", narrow, result, *bounds[label])
        check_reference(checks, label, twin, result)
    checks.finish()


if __name__ == "__main__":
    main()
