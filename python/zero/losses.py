"""Losses of PyTorch by name, and what a module and a loss take of a batch."""

import inspect
from collections.abc import Mapping

import torch
from torch.nn import functional

from .errors import ExportError
from .inputs import data_names

# The names that a batch may have for what the module should predict.
TARGETS = ("labels", "label", "targets", "target", "y")


def _cross_entropy(scores, target):
    """The classes are the last dimension of the scores, as in language models, or the second, as in
    images."""
    last = scores.shape[:-1] == target.shape
    second = scores.shape[:1] + scores.shape[2:] == target.shape
    if last and second and scores.dim() > 2:
        raise ExportError(f"loss: the classes may be the second or the last dimension of the "
                          f"scores {tuple(scores.shape)} for labels {tuple(target.shape)}: compute "
                          f"the loss with loss=lambda outputs, batch: ...")
    if last and scores.dim() > 2:
        scores, target = scores.flatten(0, -2), target.flatten()
    return functional.cross_entropy(scores, target)


def _causal_lm(scores, target):
    """Each position predicts the next token; labels of -100 do not count."""
    return functional.cross_entropy(scores[:, :-1].flatten(0, 1), target[:, 1:].flatten())


LOSSES = {"cross_entropy": _cross_entropy, "causal_lm": _causal_lm,
          **{name: getattr(functional, name) for name in
             ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "nll_loss",
              "binary_cross_entropy_with_logits")}}


def _part(outputs, name):
    """The part of a module's result that has a name, or else its first, or the result itself."""
    if isinstance(outputs, Mapping):
        return outputs.get(name)
    if hasattr(outputs, name):
        return getattr(outputs, name)
    return outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs


def check_loss(result, remedy):
    """The loss, a tensor of one float; or an ExportError that says what was returned instead."""
    if isinstance(result, torch.Tensor) and result.dim() == 0 and result.is_floating_point():
        return result
    got = f"a tensor of shape {tuple(result.shape)}" if isinstance(result, torch.Tensor) else \
        type(result).__name__
    raise ExportError(f"expected the loss, a tensor of one float without dimensions, got {got}; "
                      f"{remedy}")


class Batch:
    """The inputs of a graph, and which of them the module takes.

    Attributes:
        inputs: the tensors by name, in order.
        taken: the names of those that the module takes.
        by_name: whether it takes them by name.
        target: the name of what a loss that is given by name compares with, or None.
    """

    def __init__(self, module, example, loss):
        if isinstance(example, torch.Tensor):
            example = (example,)
        self.by_name = isinstance(example, Mapping)
        self.target = None
        if self.by_name:
            self._take_by_name(module, dict(example), loss)
        else:
            self._take_by_position(module, tuple(example), loss)

    def _take_by_name(self, module, example, loss):
        parameters = inspect.signature(module.forward).parameters
        accepts_all = any(part.kind == part.VAR_KEYWORD for part in parameters.values())
        named = [name for name in TARGETS if name in example]
        beside = [name for name in example if name not in parameters]
        if isinstance(loss, str):
            self.target = next(iter(named or (beside if len(beside) == 1 else ())), None)
            if self.target is None:
                raise ExportError(f"loss={loss!r}: expected one input that is called "
                                  f"{', '.join(TARGETS)}, or that the module does not take, got "
                                  f"{', '.join(example)}")
        apart = set() if loss is None else {self.target} if self.target else \
            set(named) - set(parameters)
        self.taken = [name for name in example
                      if name not in apart and (loss is None or accepts_all or name in parameters)]
        checked, _ = data_names(module.forward, {name: example[name] for name in self.taken}, 0)
        self.inputs = {name: checked.get(name, value) for name, value in example.items()}
        self._check_tensors()

    def _take_by_position(self, module, example, loss):
        has_target = loss is not None and len(example) > 1
        self.inputs, _ = data_names(module.forward, example[:-1] if has_target else example, 0)
        self.taken = list(self.inputs)
        if isinstance(loss, str) and not has_target:
            raise ExportError(f"loss={loss!r}: expected an example of the module's inputs and, "
                              f"last, the target, got {len(example)} inputs")
        if has_target:
            self.target = next(name for name in TARGETS if name not in self.inputs)
            self.inputs[self.target] = example[-1]
        self._check_tensors()

    def _check_tensors(self):
        for name, value in self.inputs.items():
            if not isinstance(value, torch.Tensor):
                raise ExportError(f"example: expected a tensor for '{name}', got "
                                  f"{type(value).__name__}; bind other values in loss=")
            if value.dim() == 0:
                raise ExportError(f"example: expected a batch for '{name}', got a tensor without "
                                  f"dimensions")

    def loss(self, forward, loss, values):
        """The loss that `forward` and `loss` compute from the values of the inputs."""
        named = dict(zip(self.inputs, values))
        taken = {name: named[name] for name in self.taken}
        outputs = forward(**taken) if self.by_name else forward(*taken.values())
        if loss is None:
            return check_loss(_part(outputs, "loss"),
                              "give loss=, the name of a loss or a function of outputs and batch")
        if not callable(loss):
            return check_loss(LOSSES[loss](_part(outputs, "logits"), named[self.target]),
                              f"loss={loss!r} does not fit the module")
        batch = named if self.by_name else tuple(values) if len(values) > 1 else values[0]
        return check_loss(loss(outputs, batch), "return it from loss=")
