"""Arrays that come in and go out: numpy's, and those of any library with __dlpack__."""

import numpy as np

from .errors import BadDataError

# Of DLPack: the memory of the processor, and such memory that GPUs can read.
_HOST = (1, 3, 11)


def _is_here(value):
    device = getattr(value, "__dlpack_device__", None)
    return device is None or device()[0] in _HOST


def _capsule_of(name, value):
    """The memory of an array, which is handed over once: a capsule is renamed when it is taken."""
    capsule = value.__dlpack__()
    if '"used_dltensor' in repr(capsule):
        raise BadDataError(f"'{name}': the __dlpack__() of {type(value).__name__} has returned a "
                           "capsule that was taken before")
    return capsule


def readable(name, value, dtypes):
    """An object that zero._native reads, and the number of its type: 0 for its own.

    value: an array of numpy or of a library with __dlpack__ in the memory of this process, or what
        numpy makes an array of. Not copied unless it is not row-major.
    dtypes: the numbers of the types, zero._native.dtypes.
    """
    if not hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        value = np.asarray(value)
    if not _is_here(value):
        raise BadDataError(f"'{name}': expected an array in the memory of this process, got "
                           f"{type(value).__name__} on another device")
    if getattr(value, "requires_grad", False):
        value = value.detach()
    if not isinstance(value, np.ndarray):
        return _capsule_of(name, value), 0
    if value.dtype.name == "bfloat16":  # of ml_dtypes
        return value.view(np.uint16), dtypes["bfloat16"]
    if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
        raise BadDataError(f"'{name}': expected numbers, got an array of {value.dtype}")
    # DLPack has no byte order; the bytes of numpy's may be swapped.
    return (value if value.dtype.isnative else value.astype(value.dtype.newbyteorder("="))), 0


def empty(value):
    """An array for a value of a program, and the one that zero._native writes. Both are the same
    but for bfloat16, which numpy does not have: weights.to_numpy() makes float32 of it."""
    stored = np.uint16 if value.dtype == "bfloat16" else np.dtype(value.dtype)
    return np.empty(value.shape, stored)
