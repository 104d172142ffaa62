"""Checkpoints of onnxruntime-training as files: flatbuffers.

The build writes zero._ort_checkpoint from their schema, runtime/io/ort_checkpoint.fbs, with which
zeroc and zero-run read and write them, too.
"""

import math
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

import flatbuffers
import numpy as np

from ... import _ort_checkpoint as ort
from .errors import CheckpointError

# onnxruntime-training 1.19 reads no other version.
IDENTIFIER, VERSION, GROUP = b"ODTC", 2, "group0"
# The limit of the format.
MAX_BYTES = 2**31 - 1
# Numbers of element types in ONNX.
TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
         9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64"}


@dataclass
class Checkpoint:
    """The content of a checkpoint.

    trained, frozen: parameters by name.
    nominal: the file has no values; those of `trained` and `frozen` are zeros in their place.
    moments: state of the optimizer, `{parameter: {"momentum0": array, ...}}`.
    step: updates so far; None if the checkpoint has no state of an optimizer.
    learning_rate: the one that goes with it.
    properties: numbers and strings of the user.
    """

    trained: dict = field(default_factory=dict)
    frozen: dict = field(default_factory=dict)
    nominal: bool = False
    moments: dict = field(default_factory=dict)
    step: int | None = None
    learning_rate: float | None = None
    properties: dict = field(default_factory=dict)


class _Reader:
    """Reads the tables of a file. `external()` returns the bytes of the file of external data."""

    def __init__(self, data, external):
        self.data, self.external, self.left = data, external, len(data)

    def checkpoint(self):
        table = ort.Checkpoint.GetRootAs(self.data)
        if table.Version() not in (1, 2):
            raise CheckpointError(f"expected version 1 or 2, got {table.Version()}")
        result = Checkpoint()
        if module := table.ModuleState():
            result.nominal = module.IsNominalState()
            result.trained = self._arrays(module, "RequiresGradParams", result.nominal)
            result.frozen = self._arrays(module, "FrozenParams", result.nominal)
        if table.OptimizerGroupsLength() > 1:
            raise CheckpointError(f"expected at most one group of parameters, got "
                                  f"{table.OptimizerGroupsLength()}")
        if table.OptimizerGroupsLength():
            group = table.OptimizerGroups(0)
            result.step, result.learning_rate = group.Step(), group.InitialLearningRate()
            result.moments = {state.ParamName().decode(): self._arrays(state, "Momentums")
                              for state in self._list(group, "OptimizerStates")}
        if bag := table.PropertyBag():
            result.properties = self._properties(bag)
        return result

    def _list(self, table, name):
        """The tables of a list that the schema requires."""
        if getattr(table, f"{name}IsNone")():
            raise ValueError(f"it has no list {name}")
        count = getattr(table, f"{name}Length")()
        # Lists that overlap could have more tables than memory holds.
        self.left -= 4 * count
        if self.left < 0:
            raise ValueError("its lists overlap or reach outside of it")
        return [getattr(table, name)(index) for index in range(count)]

    def _properties(self, bag):
        numbers = [*self._list(bag, "Ints"), *self._list(bag, "Floats")]
        return {**{entry.Name().decode(): entry.Value() for entry in numbers},
                **{entry.Name().decode(): entry.Value().decode()
                   for entry in self._list(bag, "Strings")}}

    def _arrays(self, table, name, nominal=False):
        return {tensor.Name().decode(): self._array(tensor, nominal)
                for tensor in self._list(table, name)}

    def _array(self, tensor, nominal):
        name, number = tensor.Name().decode(), tensor.DataType()
        if number not in TYPES:
            raise CheckpointError(f"tensor '{name}': expected a float, integer or bool type, got "
                                  f"type {number} of ONNX")
        shape, dtype = tuple(map(int, tensor.DimsAsNumpy())), np.dtype(TYPES[number])
        if nominal:
            return np.broadcast_to(np.zeros((), dtype), shape)
        offset, count = tensor.ExternalDataOffset(), math.prod(shape)
        if offset >= 0:
            return np.frombuffer(self.external(), dtype, count, offset).reshape(shape)
        size = tensor.RawDataLength()
        if size != count * dtype.itemsize:
            raise CheckpointError(f"tensor '{name}': expected {count * dtype.itemsize} bytes for "
                                  f"shape {shape}, got {size}")
        data = tensor.RawDataAsNumpy() if size else b""
        return np.frombuffer(data, dtype).reshape(shape)


def read_checkpoint(path):
    """Reads the checkpoint at `path` as a Checkpoint.

    Raises CheckpointError if it is no such file, or damaged, and OSError if it cannot be read.
    """
    path = os.fspath(path)
    data = Path(path).read_bytes()
    if data[4:8] != IDENTIFIER:
        raise CheckpointError(f"'{path}': expected a checkpoint of onnxruntime-training, a "
                              f"flatbuffer with the identifier ODTC")
    try:
        return _Reader(data, lambda: np.memmap(f"{path}.data", np.uint8, "r")).checkpoint()
    except CheckpointError as error:
        raise CheckpointError(f"'{path}': {error}") from None
    except (struct.error, ValueError, IndexError, TypeError, AttributeError) as error:
        raise CheckpointError(f"'{path}' is damaged or cut off: {error}") from error


def _table(kind, **fields):
    """A table with these fields, which takes its place in a file by Pack()."""
    table = kind()
    vars(table).update(fields)
    return table


def _tensor(name, array, nominal=False):
    numbers = {name: number for number, name in TYPES.items()}
    if array.dtype.name not in numbers:
        raise CheckpointError(f"tensor '{name}': expected a float, integer or bool type, got "
                              f"{array.dtype.name}")
    data = None if nominal else np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return _table(ort.TensorT, name=name, dims=np.array(array.shape, np.int64),
                  dataType=numbers[array.dtype.name], rawData=data)


def _tensors(arrays, nominal=False):
    return [_tensor(name, array, nominal) for name, array in arrays.items()]


def _properties(values):
    """The table PropertyBag. Numbers of numpy are as good as those of Python."""
    bag = _table(ort.PropertyBagT, ints=[], floats=[], strings=[])
    for name, value in values.items():
        kind, entries = ((ort.StringPropertyT, bag.strings) if isinstance(value, str) else
                         (ort.IntPropertyT, bag.ints) if isinstance(value, (int, np.integer)) else
                         (ort.FloatPropertyT, bag.floats)
                         if isinstance(value, (float, np.floating)) else (None, None))
        if kind is None:
            raise CheckpointError(f"property '{name}': expected an int, a float or a string, got "
                                  f"{type(value).__name__}")
        entries.append(_table(kind, name=name, value=value))
    return bag


def _table_of(state):
    module = _table(ort.ModuleStateT, requiresGradParams=_tensors(state.trained, state.nominal),
                    frozenParams=_tensors(state.frozen, state.nominal),
                    isNominalState=state.nominal)
    table = _table(ort.CheckpointT, version=VERSION, moduleState=module,
                   propertyBag=_properties(state.properties))
    if state.step is not None:
        moments = [_table(ort.ParameterOptimizerStateT, paramName=name, momentums=_tensors(arrays))
                   for name, arrays in state.moments.items()]
        table.optimizerGroups = [_table(ort.OptimizerGroupT, groupName=GROUP, step=state.step,
                                        initialLearningRate=state.learning_rate or 0.0,
                                        optimizerStates=moments)]
    return table


def check_size(count):
    """Raises CheckpointError if a checkpoint cannot have `count` bytes."""
    if count >= MAX_BYTES:
        raise CheckpointError(f"a checkpoint of onnxruntime-training has less than 2 GiB, expected "
                              f"{count} bytes of tensors; zero.Session trains larger models")


def write_checkpoint(path, state):
    """Writes `state`, a Checkpoint, to `path`, through a temporary file and a rename.

    Raises CheckpointError if it has 2 GiB or more, or properties of other types.
    """
    path = Path(path)
    arrays = [*state.trained.values(), *state.frozen.values(),
              *(array for moments in state.moments.values() for array in moments.values())]
    count = 0 if state.nominal else sum(array.nbytes for array in arrays)
    check_size(count + 1024 * len(arrays))
    builder = flatbuffers.Builder(1024)
    builder.Finish(_table_of(state).Pack(builder), IDENTIFIER)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(builder.Output())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
