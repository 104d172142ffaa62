"""Writes a PyTorch module and its loss as an ONNX graph that Zero trains."""

import contextlib
from pathlib import Path

import torch

from .errors import ExportError
from .export_check import check_gradients, check_state, same_buffers
from .exported import Export
from .exporter import run_exporter, signature_of, with_loss
from .losses import LOSSES, Batch
from .stored import places_in, point_into, values_from
from .weights import array_of

# Protocol Buffers has no messages of 2 GiB; smaller files need no second one.
MOST_EMBEDDED_BYTES = 1 << 30


@contextlib.contextmanager
def _training(module):
    """Puts a module that is in evaluation mode into training mode for the body. A module that is in
    training mode keeps those of its parts that are in evaluation mode."""
    parts = [] if module.training else [part for part in module.modules() if not part.training]
    try:
        for part in parts:
            part.training = True
        yield
    finally:
        for part in parts:
            part.training = False


def _check_module(module, loss):
    if isinstance(loss, str) and loss not in LOSSES:
        raise ExportError(f"loss: expected a function, or one of {', '.join(LOSSES)}, got {loss!r}")
    if not any(parameter.requires_grad for parameter in module.parameters()):
        raise ExportError("nothing to train: expected a module with a parameter that requires a "
                          "gradient")
    if module._forward_hooks or module._forward_pre_hooks:
        raise ExportError("expected no hooks on the module itself: put it into another one, as "
                          "torch.nn.Sequential(module) does")
    by_address = {}
    for name, parameter in module.named_parameters():
        # With PyTorch 2.15 the program that the graph is compared with calls them, too.
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None):
            raise ExportError(f"'{name}' has a hook, which changes or reads its gradient and has no "
                              f"place in a graph: remove it")
        if parameter.is_meta:
            raise ExportError(f"'{name}' is on the meta device, which has no values: give weights=, "
                              f"the folder of .safetensors files that has them")
        other = by_address.setdefault(parameter.data_ptr(), name) if parameter.numel() else name
        if other != name:
            raise ExportError(f"'{other}' and '{name}' share memory, but are different parameters, "
                              f"which PyTorch trains twice: assign one to the other to tie them")


def _dynamic_shapes(batch, dynamic_batch):
    """The symbolic dimensions of the inputs for torch.export."""
    if not dynamic_batch:
        return None
    size = next(iter(batch.inputs.values())).shape[0]
    if size < 2:
        raise ExportError("dynamic_batch: expected an example of at least 2 samples, because "
                          "PyTorch takes a size of 1 as fixed")
    symbol = torch.export.Dim("batch")
    shapes = tuple({0: symbol} if value.shape[0] == size else {}
                   for value in batch.inputs.values())
    return shapes if signature_of(batch.inputs) else (shapes,)


def _export(module, batch, dynamic_batch, path, places):
    """Writes the graph; returns the torch.export.ExportedProgram that it was written from. places:
    of tensors that stay in files beside the graph."""
    size = sum(value.nbytes for name, value in [*module.named_parameters(), *module.named_buffers()]
               if name not in places)
    # If one tensor is given twice, both inputs become one.
    values = tuple(value.detach().clone() for value in batch.inputs.values())
    program = run_exporter(module, values, list(batch.inputs),
                           _dynamic_shapes(batch, dynamic_batch))
    # So that no way to compile the graph trains what the module does not.
    frozen = [name for name, value in module.named_parameters(remove_duplicate=False)
              if not value.requires_grad]
    if frozen:
        program.model.graph.metadata_props["zero.frozen"] = "\n".join(frozen)
    point_into(program.model.graph, places, path.parent.resolve())
    program.save(path, external_data=size > MOST_EMBEDDED_BYTES)
    return program.exported_program


def _check_dynamic(batch, state):
    """PyTorch exports a fixed batch without a message where a module needs one."""
    size = next(iter(batch.inputs.values())).shape[0]
    fixed = [name for name, shape in state.inputs.items() if shape[0] == size]
    if fixed:
        raise ExportError(f"dynamic_batch: the module only takes batches of {size} samples, "
                          f"because it computes with that number: '{fixed[0]}' is "
                          f"{state.inputs[fixed[0]]}")


def _find_places(weights, path):
    """The Place of each stored tensor, in the folder of the graph."""
    places, folder = places_in(weights), path.parent.resolve()
    return {name: place._replace(path=_beside(place.path.resolve(), folder))
            for name, place in places.items()}


def _beside(file, folder):
    if folder not in file.parents:
        raise ExportError(f"weights: '{file}' is not in '{folder}', the folder of path=, from which "
                          f"a graph refers to files")
    return file


def export(module, example_batch, *, path, loss=None, weights=None, dynamic_batch=False, check=True,
           tolerance=1e-3):
    """Writes a PyTorch module and its loss as an ONNX graph for `zeroc`; returns an Export.

    The graph has all parameters under the names of `module.state_dict()`, in training mode, and
    one output, `loss`. MODEL.state.json beside it says where each tensor of the state_dict is (see
    `zero.read_weights`), MODEL.trainable.txt what is trained if parameters are frozen. The module
    is not changed. If it is in evaluation mode, it is exported in training mode.

    module: its forward returns the loss, or outputs that `loss` takes. Parameters with
        requires_grad=False are frozen.
    example_batch: a tensor, a tuple of tensors, or a dictionary of them by name, each with the
        samples as first dimension. With `loss`, the module takes all of a tuple but the last, the
        target, which becomes the input `labels`; and of a dictionary what its forward takes.
    path: ends with .onnx. Tensors of more than 1 GiB in total are written to MODEL.onnx.data.
    loss: a function of outputs and batch that returns a float without dimensions; or the name of a
        loss: cross_entropy, causal_lm (each position predicts the next token), mse_loss, l1_loss,
        smooth_l1_loss, huber_loss, nll_loss, binary_cross_entropy_with_logits. Without it, the
        module returns the loss, or outputs with it as `.loss` or first.
    weights: a .safetensors file, or a folder of them, in the folder of `path`, with tensors under
        the names of the `state_dict()`: the graph refers to them, and they are not read into
        memory, also for the comparison, which writes gradients to files meanwhile. The module may
        be on the meta device, as `zero.without_weights()` makes it.
    dynamic_batch: the number of samples is left to `zeroc --shape`.
    check: compares the graph with the module: the bits of every tensor; and the loss and the
        gradients of the example, computed by zero-run. With dropout,
        only the loss without it is compared. If the loss draws other random numbers, it is not
        compared. Export.notes says so, and which buffers are not updated.
    tolerance: the largest relative difference of the loss, and of each gradient.

    Raises ExportError with everything that differs, or with what to change. The files are then
    left for inspection.
    """
    path = Path(path)
    if path.suffix != ".onnx":
        raise ExportError(f"expected a path that ends with .onnx, got '{path}'")
    if not isinstance(module, torch.nn.Module):
        raise ExportError(f"expected a torch.nn.Module, got {type(module).__name__}")
    given = (module, example_batch, path, loss, dynamic_batch, check, tolerance)
    if weights is None:
        return _export_filled(*given, places={})
    with values_from(module, _find_places(weights, path)) as places:
        return _export_filled(*given, places)


def _export_filled(module, example_batch, path, loss, dynamic_batch, check, tolerance, places):
    """export() of a module whose tensors have values, some of them in files."""
    _check_module(module, loss)
    batch = Batch(module, example_batch, loss)
    with _training(module), same_buffers(module):
        program = _export(with_loss(module, batch, loss), batch, dynamic_batch, path, places)
        state, unread, notes = check_state(module, batch, program, path)
        if dynamic_batch:
            _check_dynamic(batch, state)
        rest = {name: array_of(name, tensor) for name, tensor in module.state_dict().items()
                if name in unread or state.tensors[name]["role"] == "buffer"}
        result = Export(path, state.write(path, rest), state,
                        {name: tuple(value.shape) for name, value in batch.inputs.items()})
        notes += check_gradients(module, batch, loss, result, tolerance, bool(places)) if check \
            else ["the loss was not compared with the module's: check=False"]
    return Export(result.path, result.trainable, state, result.example, tuple(notes))
