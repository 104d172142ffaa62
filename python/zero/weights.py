"""Files of weights: initial values for `zero-run --weights`, and what a run saved."""

import json
import struct
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .errors import ExportError
from .trees import check_unique, flatten, join

# The types of numpy as .safetensors names them.
_SAFETENSORS = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16",
                "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint64": "U64",
                "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL"}
_NUMPY = {code: name for name, code in _SAFETENSORS.items()}


def _is_from(module, value):
    """Whether the class of `value` is one of `module`, which is not imported for this."""
    return any(base.__module__.split(".")[0] == module for base in type(value).__mro__)


def _from_torch(tensor):
    tensor = tensor.detach().cpu().contiguous()
    if str(tensor.dtype) != "torch.bfloat16":
        return tensor.numpy(), None
    # Numpy has no such type.
    return tensor.view(sys.modules["torch"].uint16).numpy(), "bfloat16"


def array_of(name, value):
    """The values of a leaf as an array, and the name of their type."""
    if _is_from("torch", value):
        array, dtype = _from_torch(value)
        return array, dtype or array.dtype.name
    if str(getattr(value, "dtype", "")).startswith("key<"):
        # A program takes the words of a typed key of jax.random.
        value = sys.modules["jax"].random.key_data(value)
    array = np.asarray(value)
    if not hasattr(value, "dtype"):
        # JAX computes with 32 bits where Python has 64.
        array = array.astype({"float64": "float32", "int64": "int32"}.get(array.dtype.name,
                                                                          array.dtype))
    if array.dtype.name not in _SAFETENSORS:
        raise ExportError(f"{name!r}: expected an array of numbers, got {array.dtype.name}")
    return array, array.dtype.name


def _torch_leaves(module):
    """The parameters and buffers of a module, each once. A state_dict lacks buffers that are not
    persistent, and has tied tensors twice."""
    return [((name,), value) for named in (module.named_parameters(), module.named_buffers())
            for name, value in named]


def write_safetensors(tensors, path, metadata=None):
    """Writes tensors by name, each an array and the name of its type: an array of uint16 has the
    bits of bfloat16. metadata: texts by name."""
    header, offset = {"__metadata__": metadata} if metadata else {}, 0
    for name, (array, dtype) in tensors.items():
        header[name] = {"dtype": _SAFETENSORS[dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array, _ in tensors.values():
            file.write(np.ascontiguousarray(array).tobytes())


class Place(NamedTuple):
    """Where a tensor is in a file: its type, shape, and bytes [begin, end)."""
    path: Path
    dtype: str
    shape: tuple
    begin: int
    end: int


def places_of(path):
    """A dictionary from the names of the tensors of a .safetensors file to their Place."""
    path = Path(path)
    try:
        with open(path, "rb") as file:
            size, = struct.unpack("<Q", file.read(8))
            total = path.stat().st_size
            if 8 + size > total:
                raise ValueError(f"a header of {size} bytes in a file of {total}")
            header = json.loads(file.read(size))
        header.pop("__metadata__", None)
        return {name: Place(path, _NUMPY[entry["dtype"]], tuple(entry["shape"]),
                            *(8 + size + offset for offset in entry["data_offsets"]))
                for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise ExportError(f"expected a .safetensors file, got '{path}': {error!r}") from None


def map_tensor(place, data=None):
    """A tensor as `write_safetensors` takes it: a view of a private mapping of the file.

    data: that mapping, if there is one.
    """
    try:
        data = np.memmap(place.path, np.uint8, "c") if data is None else data
        stored = np.uint16 if place.dtype == "bfloat16" else place.dtype
        array = np.asarray(data[place.begin:place.end]).view(stored).reshape(place.shape)
        return np.require(array, requirements="A"), place.dtype
    except (ValueError, TypeError) as error:
        raise ExportError(f"expected a .safetensors file, got '{place.path}': "
                          f"{error!r}") from None


def read_safetensors(path):
    """A dictionary from the names of the tensors of a file to what `write_safetensors` takes: views
    of a private mapping of the file, with the names of their types."""
    places = places_of(path)
    data = np.memmap(path, np.uint8, "c") if places else None
    return {name: map_tensor(place, data) for name, place in places.items()}


def to_numpy(array, dtype):
    """The array that numpy can compute with: bfloat16 becomes float32."""
    if dtype != "bfloat16":
        return array
    return (array.astype(np.uint32) << 16).view(np.float32)


def to_torch(array, dtype):
    """The tensor of PyTorch, which shares the array's memory."""
    import torch
    if array.size == 0:
        return torch.empty(array.shape, dtype=getattr(torch, dtype))
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def _write_npz(tensors, path):
    for name, (_, dtype) in tensors.items():
        if dtype == "bfloat16":
            raise ExportError(f"{name!r} is bfloat16, which .npz cannot store: expected a path "
                              f"that ends with .safetensors, got '{path}'")
    with open(path, "wb") as file:
        np.savez(file, **{name: array for name, (array, _) in tensors.items()})


def _select(tensors, program):
    """The tensors that a program has as state."""
    names_file = Path(program).with_suffix(".json")
    state = [entry["name"] for entry in json.loads(names_file.read_text())["args"]
             if entry.get("role") != "data"]
    missing = [name for name in state if name not in tensors]
    if missing:
        raise ExportError(f"expected an array for '{missing[0]}', which '{program}' has as state"
                          + (f", and {len(missing) - 1} more" if missing[1:] else ""))
    return {name: tensors[name] for name in state}


def save_weights(tree, path, program=None):
    """Writes the arrays of `tree` for `zero-run --weights=PATH`; returns the path.

    tree: a dictionary of the arguments that are state, by their names, with arrays of JAX, PyTorch
        or numpy in it, or numbers: `{"params": params, "opt_state": opt_state, "step": 0}`; or a
        PyTorch module, or its `state_dict()`. A leaf gets the name that the names file has for it:
        `tree["params"]["fc1"]["w"]` is `params.fc1.w`. Shapes and types are kept; numbers of Python
        become float32 and int32.
    path: ends with .npz or .safetensors. Only the latter stores bfloat16.
    program: the path that from_jax or from_torch returned. Only its state is written: arrays that
        it does not read are left out, and one that is missing is an error.

    A module has all its buffers, and tied parameters once, as the program of from_torch has them. A
    `state_dict()` lacks buffers that are not persistent, and has tied parameters twice.
    """
    path = Path(path)
    leaves = _torch_leaves(tree) if hasattr(tree, "named_buffers") else flatten(tree)
    names = [join(keys) for keys, _ in leaves]
    check_unique(names, "array")
    tensors = {name: array_of(name, value) for name, (_, value) in zip(names, leaves)}
    if program is not None:
        tensors = _select(tensors, program)
    if path.suffix == ".npz":
        _write_npz(tensors, path)
    elif path.suffix == ".safetensors":
        write_safetensors(tensors, path)
    else:
        raise ExportError(f"expected a path that ends with .npz or .safetensors, got '{path}'")
    return path
