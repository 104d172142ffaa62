"""What calls of a module take and return: arrays that are computed when they are read, and the
values of onnxruntime."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .errors import TrainingError


class LazyArray(NDArrayOperatorsMixin):
    """A result of a call in training mode, usable wherever an array of numpy is.

    Zero computes loss, gradients and update in one step, so the loss is known when the optimizer
    has made its step. One that is read before is computed by a forward pass of its own.
    """

    __array_priority__ = 1000

    def __init__(self, read):
        self._read = read

    def numpy(self):
        """The value as an array of numpy."""
        return self._read()

    def __array__(self, dtype=None, copy=None):
        array = self._read()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        inputs = [np.asarray(value) if isinstance(value, LazyArray) else value for value in inputs]
        return getattr(ufunc, method)(*inputs, **keywords)

    def __getattr__(self, name):
        # Not those by which libraries ask for memory: numpy has them where they are needed.
        if name.startswith("__") or name == "_read":
            raise AttributeError(name)
        return getattr(self._read(), name)

    def __float__(self):
        return float(self._read())

    def __int__(self):
        return int(self._read())

    def __bool__(self):
        return bool(self._read())

    def __len__(self):
        return len(self._read())

    def __iter__(self):
        return iter(self._read())

    def __getitem__(self, index):
        return self._read()[index]

    def __round__(self, digits=None):
        return round(float(self._read()), digits)

    def __format__(self, spec):
        return format(self._read(), spec)

    def __str__(self):
        return str(self._read())

    def __repr__(self):
        return repr(self._read())


class OrtValue:
    """A tensor in memory of the CPU, with the methods of onnxruntime.OrtValue that scripts for
    training use."""

    def __init__(self, array):
        self._array = array

    @classmethod
    def ortvalue_from_numpy(cls, array, device_type="cpu", device_id=0):
        """A value with a copy of the array."""
        _check_device(device_type)
        return cls(np.array(array))

    @classmethod
    def ortvalue_from_shape_and_type(cls, shape, element_type, device_type="cpu", device_id=0):
        """A value of that shape, whose elements are zero."""
        _check_device(device_type)
        return cls(np.zeros(shape, element_type))

    @property
    def _ortvalue(self):
        # onnxruntime keeps the value of its C++ part there, and scripts pass that on.
        return self

    def numpy(self):
        """The elements as an array of numpy."""
        return np.asarray(self._array)

    def shape(self):
        """A list of the elements in each dimension."""
        return list(self.numpy().shape)

    def data_type(self):
        """The type as onnxruntime writes it: "tensor(float)"."""
        names = {"float32": "float", "float64": "double"}
        name = self.numpy().dtype.name
        return f"tensor({names.get(name, name)})"

    def device_name(self):
        return "cpu"

    def is_tensor(self):
        return True

    def has_value(self):
        return True

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype=dtype, copy=copy)


def _check_device(device):
    if device != "cpu":
        raise TrainingError(f"expected the device 'cpu', got '{device}'")


def is_value(value):
    """Whether it is a value of onnxruntime, its own or ours, and no array."""
    return hasattr(value, "numpy") and not isinstance(value, (np.ndarray, LazyArray))


def as_array(value):
    """The array of an array, a value of onnxruntime, or a number."""
    return np.asarray(value.numpy() if is_value(value) else value)
