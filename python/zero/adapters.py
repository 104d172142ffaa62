"""Files of adapters, as PEFT reads them."""

import hashlib
import json
from pathlib import Path

import numpy as np

from . import blocks
from .errors import ExportError
from .state import State, list_differences
from .weights import read_safetensors, to_numpy, write_safetensors

# PEFT calls a model that it adapts base_model.model.
PREFIX = "base_model.model."
# Elements of a matrix in blocks of codes that are compared; all of a large one would take minutes.
_HEAD = 1 << 16


def _digest(array):
    return hashlib.blake2b(np.ascontiguousarray(array), digest_size=16).hexdigest()


def _as_bfloat16(array):
    """float32 rounded to the nearest bfloat16, to even between two."""
    bits = array.view(np.uint32)
    rounded = (bits + 0x7fff + ((bits >> 16) & 1)) & np.uint32(0xffff0000)
    return np.where(np.isnan(array), array, rounded.view(np.float32))


def _floats(array, dtype):
    return np.atleast_1d(to_numpy(array, dtype)).astype(np.float32)


def _head_digest(values):
    """A hash of the first elements of a matrix, to which codes are compared."""
    return "head " + _digest(values.reshape(-1)[:_HEAD])


def digests_of(array, dtype):
    """Hashes of the values that a frozen tensor may have after a run: its own, and those that
    `--frozen-precision` or `--precision` rounds it to."""
    values = _floats(array, dtype)
    with np.errstate(over="ignore"):
        halves = values.astype(np.float16).astype(np.float32)
    digests = list(map(_digest, (values, _as_bfloat16(values), halves)))
    if blocks.is_coded(values.shape):
        for precision in blocks.PRECISIONS:
            head = blocks.decode(values, precision, _HEAD)
            digests += [_head_digest(head), _head_digest(_as_bfloat16(head))]
    return list(dict.fromkeys(digests))


def is_one_of(array, dtype, digests):
    """Whether a saved tensor has the values of one of `digests`, as digests_of() makes them."""
    values = _floats(array, dtype)
    return _digest(values) in digests or _head_digest(values) in digests


def _check_base(state, tensors, weights):
    """An adapter is of use beside the base that it was trained with, and no other."""
    differences = []
    for entry in state.tensors.values():
        name, digests = entry["initializer"], entry.get("digests")
        if digests is None:
            continue
        if name not in tensors:
            differences.append(f"'{name}' is missing, so that it cannot be compared")
        elif not is_one_of(*tensors[name], digests):
            differences.append(f"'{name}' was changed")
    if differences:
        raise ExportError(
            f"the base in '{weights}' is not the one that was exported, beside which the adapter "
            f"would compute something else; train with the list of zero.export (zero.compile(export), or zeroc "
            f"--trainable=MODEL.trainable.txt), or take the whole model by zero.read_weights:"
            f"{list_differences(sorted(set(differences)))}")


def save_adapter(folder, weights, program):
    """Writes the adapter of a file that `zero-run --save` wrote; returns the folder.

    `peft.PeftModel.from_pretrained(base, folder)` loads it.

    folder: gets adapter_model.safetensors, without the base, and adapter_config.json.
    weights: ends with .safetensors.
    program: the path that `zero.export` returned for a module of `zero.lora` or PEFT.

    Raises ExportError if the module had no adapter, if the file lacks a part of it, or if the run
    changed the base.
    """
    folder, state = Path(folder), State.read(program)
    if state.adapter is None:
        raise ExportError(f"'{program}' has no adapter: expected the export of a module of "
                          f"zero.lora or PEFT")
    tensors, found, missing = read_safetensors(weights), {}, []
    for key, name in state.adapter["keys"].items():
        entry = state.tensors[name]
        value = tensors.get(entry["initializer"])
        if value is None or list(value[0].shape) != entry["shape"]:
            missing.append(f"expected '{entry['initializer']}' of shape {entry['shape']}, got " +
                           ("none" if value is None else f"{list(value[0].shape)}"))
        found[key] = value
    if missing:
        raise ExportError(f"'{weights}' does not fit the adapter:{list_differences(missing)}")
    _check_base(state, tensors, weights)
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(found, folder / "adapter_model.safetensors", {"format": "pt"})
    text = json.dumps(state.adapter["config"], indent=2, sort_keys=True)
    (folder / "adapter_config.json").write_text(text + "\n")
    return folder
