"""Offline preparation: the files that training starts from."""

import json
import os
from enum import Enum
from pathlib import Path

import onnx
from onnx import helper

from . import onnxblock
from .checkpoint_file import Checkpoint, check_size, write_checkpoint
from .errors import TrainingError
from .graphs import (MICROSOFT, TRAINED_KEY, evaluation_of, initializers, move_to_inputs, prune,
                     value_info)
from .onnxblock.blocks import building


class LossType(Enum):
    """Losses of generate_artifacts."""

    MSELoss = 1
    CrossEntropyLoss = 2
    BCEWithLogitsLoss = 3
    L1Loss = 4


class OptimType(Enum):
    """Optimizers of generate_artifacts."""

    AdamW = 1
    SGD = 2


def _load(model):
    """A copy of the model, which may be given as a path."""
    if isinstance(model, onnx.ModelProto):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        return copy
    if isinstance(model, (str, os.PathLike)):
        return onnx.load(os.fspath(model))
    raise TrainingError(f"expected a path or an onnx.ModelProto as model, got "
                        f"{type(model).__name__}")


def _block(value, enum, module, what):
    """The block of a member of `enum`, or the block itself."""
    if isinstance(value, enum):
        return getattr(module, value.name)()
    if isinstance(value, onnxblock.Block):
        return value
    raise TrainingError(f"expected {what} of artifacts.{enum.__name__} or an onnxblock.Block, got "
                        f"{type(value).__name__}")


def _check_names(model, trained, frozen):
    known = {tensor.name for tensor in model.graph.initializer}
    for what, names in (("requires_grad", trained), ("frozen_params", frozen)):
        missing = [name for name in names if name not in known]
        if missing:
            raise TrainingError(f"{what}: expected initializers of the model, got '{missing[0]}'"
                                + (f" and {len(missing) - 1} more" if missing[1:] else ""))
    both = sorted(set(trained) & set(frozen))
    if both:
        raise TrainingError(f"expected '{both[0]}' in requires_grad or in frozen_params, not in "
                            f"both")
    if not trained:
        raise TrainingError("requires_grad: expected the names of the initializers to train, got "
                            "none")


def _check_used(model, trained):
    """Fails if the loss, the first output, depends on no parameter of some name."""
    used = {tensor.name for tensor in prune(model, [model.graph.output[0].name]).graph.initializer}
    unused = [name for name in trained if name not in used]
    if unused:
        raise TrainingError(f"requires_grad: the loss does not depend on '{unused[0]}'"
                            + (f" and {len(unused) - 1} more" if unused[1:] else ""))


def _add_loss(model, loss, loss_input_names, additional_output_names):
    """Appends the loss, and makes outputs of it and of the additional names. Returns the model."""
    block = (onnxblock.blocks.PassThrough() if loss is None else
             _block(loss, LossType, onnxblock.loss, "a loss"))
    names = loss_input_names or [output.name for output in model.graph.output]
    with building(model):
        result = block(*names)
    outputs = [result] if isinstance(result, str) else list(result)
    outputs += additional_output_names or []
    typed = onnx.shape_inference.infer_shapes(model)
    for name in outputs:
        if value_info(typed, name) is None:
            raise TrainingError(f"expected values of the model as outputs, got '{name}'")
    return prune(typed, outputs, keep_inputs=True)


def _checked(model):
    """The model, which the checker of ONNX accepts."""
    onnx.checker.check_model(model, full_check=True)
    return model


def optimizer_model(optimizer, opset=17):
    """The optimizer model of an OptimType or of a block of onnxblock.optim."""
    graph = helper.make_graph([], "optimizer", [], [])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, producer_name="zero", opset_imports=opsets, ir_version=8)
    block = _block(optimizer, OptimType, onnxblock.optim, "an optimizer")
    with building(model):
        block()
    return model


def generate_artifacts(model, requires_grad=None, frozen_params=None, loss=None, optimizer=None,
                       artifact_directory=None, prefix="", ort_format=False,
                       custom_op_library=None, additional_output_names=None,
                       nominal_checkpoint=False, loss_input_names=None):
    """Writes the artifacts of a model: the files that Module and Optimizer read.

    model: an onnx.ModelProto, or a path, of the forward pass.
    requires_grad: names of the initializers to train.
    frozen_params: names of initializers that are parameters, too, but not trained. The others are
        constants: they are in the models, not in the checkpoint.
    loss: a LossType or an onnxblock.Block, called with the names of the outputs of the model, or
        with `loss_input_names`. None: the first output is the loss.
    optimizer: an OptimType or a block of onnxblock.optim. None: no optimizer model is written.
    artifact_directory: where the files are written; None is the current directory.
    prefix: begins the names of all files.
    additional_output_names: values that a call returns besides the loss.
    nominal_checkpoint: also write a checkpoint without values.

    PREFIXtraining_model.onnx is the forward pass with the loss in training mode, and
    PREFIXeval_model.onnx the same in evaluation mode, both with the parameters as inputs.
    PREFIXcheckpoint has the values of the parameters, PREFIXoptimizer_model.onnx the update. Unlike
    those of onnxruntime-training, the training model has no gradients: Zero derives them.

    Raises TrainingError for arguments that do not fit the model, or are not supported: `ort_format`
    and `custom_op_library`.
    """
    for name, given in (("ort_format", ort_format), ("custom_op_library", custom_op_library)):
        if given:
            raise TrainingError(f"{name} is not supported: Zero reads models in the format of "
                                f"ONNX, with standard operators")
    model = _load(model)
    check_size(sum(len(tensor.raw_data) for tensor in model.graph.initializer))
    trained, frozen = list(requires_grad or []), list(frozen_params or [])
    _check_names(model, trained, frozen)
    values = initializers(model)
    model = _add_loss(model, loss, loss_input_names, additional_output_names)
    _check_used(model, trained)
    move_to_inputs(model, {*trained, *frozen})
    evaluation = evaluation_of(model)
    # The order of the model, in which buffers have the parameters.
    names = [value.name for value in model.graph.input]
    state = Checkpoint({name: values[name] for name in names if name in set(trained)},
                       {name: values[name] for name in names if name in set(frozen)})
    model.metadata_props.add(key=TRAINED_KEY, value=json.dumps(list(state.trained)))
    folder = Path(os.fsdecode(artifact_directory) if artifact_directory is not None else ".")
    onnx.save(_checked(model), folder / f"{prefix}training_model.onnx")
    onnx.save(_checked(evaluation), folder / f"{prefix}eval_model.onnx")
    write_checkpoint(folder / f"{prefix}checkpoint", state)
    if nominal_checkpoint:
        nominal = Checkpoint(state.trained, state.frozen, nominal=True)
        write_checkpoint(folder / f"{prefix}nominal_checkpoint", nominal)
    if optimizer is not None:
        opset = next(entry.version for entry in model.opset_import
                     if entry.domain in ("", "ai.onnx"))
        onnx.save(optimizer_model(optimizer, opset), folder / f"{prefix}optimizer_model.onnx")
