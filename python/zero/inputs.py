"""The inputs of a PyTorch module, from an example of them."""

import inspect
from collections.abc import Mapping

import torch

from .errors import ExportError


def data_names(function, example, skipped):
    """The names and values of the inputs, in the order of the function's parameters.

    example: a tensor, a sequence of positional arguments, or a mapping of arguments by name.
    skipped: how many parameters come before the inputs.
    """
    if isinstance(example, torch.Tensor):
        example = (example,)
    by_name = isinstance(example, Mapping)
    try:
        signature = inspect.signature(function)
        first = [None] * skipped
        bound = signature.bind(*first, **example) if by_name else signature.bind(*first, *example)
    except TypeError as error:
        raise ExportError(f"example: the inputs do not fit the function: {error}") from None
    inputs = {}
    for name, value in list(bound.arguments.items())[skipped:]:
        kind = signature.parameters[name].kind
        if kind == inspect.Parameter.VAR_POSITIONAL:
            inputs |= {f"{name}.{index}": part for index, part in enumerate(value)}
        elif kind == inspect.Parameter.VAR_KEYWORD:
            inputs |= value
        else:
            inputs[name] = value
    for name, value in inputs.items():
        if not isinstance(value, torch.Tensor):
            raise ExportError(f"example: expected a tensor for '{name}', got "
                              f"{type(value).__name__}; bind other values in loss=")
    return inputs, by_name
