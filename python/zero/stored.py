"""Modules whose values stay in files of safetensors while they are exported."""

import contextlib
import ctypes
from pathlib import Path

import torch

from .errors import ExportError
from .weights import map_tensor, places_of, to_torch


def places_in(weights):
    """A dictionary from the names of tensors to their Place.

    weights: a .safetensors file, or a folder of them.
    """
    weights = Path(weights)
    files = sorted(weights.glob("*.safetensors")) if weights.is_dir() else [weights]
    if not files:
        raise ExportError(f"weights: expected .safetensors files in '{weights}'")
    places = {}
    for file in files:
        for name, place in places_of(file).items():
            if name in places:
                raise ExportError(f"weights: '{name}' is in '{places[name].path}' and in '{file}'")
            places[name] = place
    return places


def _owners(module):
    """(dictionary of a part, name in it, full names, tensor) of each parameter and buffer, in groups
    of those that are one tensor."""
    groups = {}
    for prefix, part in module.named_modules():
        for owner in (part._parameters, part._buffers):
            for name, value in owner.items():
                if value is not None:
                    full = f"{prefix}.{name}" if prefix else name
                    groups.setdefault(id(value), []).append((owner, name, full, value))
    return groups.values()


def _find(names, value, places):
    """The Place of a tensor with these names, or None if the files lack it."""
    found = next((name for name in names if name in places), None)
    if found is None:
        if value.is_meta:
            raise ExportError(f"'{names[0]}' is on the meta device, and the files of weights= lack "
                              f"it: create the module in zero.without_weights(), which leaves "
                              f"buffers where they are")
        return None
    if places[found].shape != tuple(value.shape):
        raise ExportError(f"'{found}': the module has the shape {tuple(value.shape)}, "
                          f"'{places[found].path}' {places[found].shape}")
    return places[found]


def in_place_of(value, tensor):
    """`tensor` as a parameter, if `value` is one, that requires a gradient if `value` does."""
    return torch.nn.Parameter(tensor, value.requires_grad) \
        if isinstance(value, torch.nn.Parameter) else tensor


@contextlib.contextmanager
def values_from(module, places):
    """Gives the module the values of files in the body, as mappings of these. Yields the Place of
    each tensor that has them, by each of its names in the module."""
    before, found = [], {}
    try:
        for group in _owners(module):
            names, value = [full for _, _, full, _ in group], group[0][3]
            place = _find(names, value, places)
            if place is None:
                continue
            mapped = in_place_of(value, to_torch(*map_tensor(place)))
            found.update(dict.fromkeys(names, place))
            for owner, name, _, _ in group:
                before.append((owner, name, value))
                owner[name] = mapped
        yield found
    finally:
        for owner, name, value in before:
            owner[name] = value


@contextlib.contextmanager
def without_weights():
    """Modules that are created in the body have parameters without values, on the meta device, for
    export(weights=); buffers have theirs.

        with zero.without_weights():
            model = LlamaForCausalLM(LlamaConfig.from_pretrained("llama"))
        zero.export(model, batch, path="llama/model.onnx", weights="llama")
    """
    register = torch.nn.Module.register_parameter

    def register_on_meta(self, name, parameter):
        if parameter is not None and not parameter.is_meta:
            parameter = torch.nn.Parameter(parameter.detach().to("meta"), parameter.requires_grad)
        register(self, name, parameter)
    torch.nn.Module.register_parameter = register_on_meta
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register


def point_into(graph, places, folder):
    """Lets the initializers of a graph that are in files of `folder` refer to these, instead of
    having a copy."""
    import onnx_ir
    for name, value in graph.initializers.items():
        place, own = places.get(name), value.const_value
        if place is None or tuple(own.shape) != place.shape:
            continue
        value.const_value = onnx_ir.ExternalTensor(
            place.path.relative_to(folder), place.begin, place.end - place.begin, own.dtype,
            shape=own.shape, name=name, base_dir=folder)


class OnDisk:
    """Copies of tensors in files of a folder, whose memory the system may take back."""

    def __init__(self, folder):
        self.folder, self.count = Path(folder), 0

    @staticmethod
    def trim():
        """Gives the system what the C library keeps of freed memory, where it has glibc's call."""
        if release := getattr(ctypes.CDLL(None), "malloc_trim", None):
            release(0)

    def copy(self, tensor, dtype):
        """The tensor in another type."""
        self.count += 1
        if tensor.numel() == 0:
            return tensor.detach().to(dtype)
        copied = torch.from_file(str(self.folder / f"{self.count}.bin"), shared=True,
                                 size=tensor.numel(), dtype=dtype).reshape(tensor.shape)
        copied.copy_(tensor.detach())
        return copied
