"""Checkpoints of onnxruntime-training as files: flatbuffers, whose schema is SCHEMA.

runtime/io/ort_checkpoint.fbs is the same schema, with which zeroc and zero-run read and write them.
"""

import math
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

import flatbuffers
import numpy as np
from flatbuffers import encode, number_types
from flatbuffers.table import Table

from .errors import CheckpointError

# The fields of each table, in their order. A type in brackets is a list, and a type that is a key
# of this dictionary a table. Lists that are required are written even if they are empty.
SCHEMA = {
    "Tensor": {"name": "string", "doc_string": "string", "dims": "[int64]!", "data_type": "int32",
               "raw_data": "[uint8]", "string_data": "[string]", "external_data_offset": "int64"},
    "ModuleState": {"requires_grad_params": "[Tensor]!", "frozen_params": "[Tensor]!",
                    "is_nominal_state": "bool", "has_external_data": "bool"},
    "ParameterOptimizerState": {"param_name": "string", "momentums": "[Tensor]!"},
    "OptimizerGroup": {"group_name": "string", "step": "int64", "initial_learning_rate": "float32",
                       "optimizer_states": "[ParameterOptimizerState]!"},
    "IntProperty": {"name": "string", "value": "int64"},
    "FloatProperty": {"name": "string", "value": "float32"},
    "StringProperty": {"name": "string", "value": "string"},
    "PropertyBag": {"ints": "[IntProperty]!", "floats": "[FloatProperty]!",
                    "strings": "[StringProperty]!"},
    "Checkpoint": {"version": "int32", "module_state": "ModuleState",
                   "optimizer_groups": "[OptimizerGroup]", "property_bag": "PropertyBag"},
}
DEFAULTS = {("Tensor", "external_data_offset"): -1}
SCALARS = {"bool": number_types.BoolFlags, "int32": number_types.Int32Flags,
           "int64": number_types.Int64Flags, "float32": number_types.Float32Flags,
           "uint8": number_types.Uint8Flags}
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


def _element_of(kind):
    """The type of the elements of a list, and whether it is required; None for other types."""
    return kind.strip("[]!") if kind.startswith("[") else None


class _Reader:
    """Reads tables as dictionaries. Fields that the file does not have are left out."""

    def __init__(self, data):
        self.data, self.left = data, len(data)

    def root(self, kind):
        return self._table(kind, encode.Get(number_types.UOffsetTFlags.packer_type, self.data, 0))

    def _table(self, kind, position):
        # Lists that overlap could have more tables than memory holds.
        self.left -= 4
        if self.left < 0:
            raise struct.error("its tables overlap")
        table, values = Table(self.data, position), {}
        for index, (name, type_name) in enumerate(SCHEMA[kind].items()):
            offset = table.Offset(4 + 2 * index)
            if offset:
                values[name] = self._value(table, type_name, offset)
        return values

    def _value(self, table, kind, offset):
        element = _element_of(kind)
        position = table.Pos + offset
        if element in SCALARS:
            start, count = table.Vector(offset), table.VectorLen(offset)
            return np.frombuffer(self.data, element, count, start)
        if element:
            start, count = table.Vector(offset), table.VectorLen(offset)
            if start + 4 * count > len(self.data):
                raise struct.error("a list reaches outside of it")
            return [self._referred(table, element, start + 4 * i) for i in range(count)]
        if kind in SCALARS:
            return table.Get(SCALARS[kind], position)
        return self._referred(table, kind, position)

    def _referred(self, table, kind, position):
        if kind == "string":
            return table.String(position).decode()
        return self._table(kind, table.Indirect(position))


class _Writer:
    """Writes dictionaries as tables. A file begins with what is written last."""

    def __init__(self):
        self.builder = flatbuffers.Builder(1024)

    def file(self, kind, values):
        self.builder.Finish(self._table(kind, values), file_identifier=IDENTIFIER)
        return self.builder.Output()

    def _table(self, kind, values):
        fields = SCHEMA[kind]
        unknown = values.keys() - fields.keys()
        assert not unknown, unknown
        children = {name: self._child(type_name, values.get(name))
                    for name, type_name in fields.items() if type_name not in SCALARS}
        self.builder.StartObject(len(fields))
        for index, (name, type_name) in enumerate(fields.items()):
            if type_name in SCALARS and name in values:
                default = DEFAULTS.get((kind, name), 0)
                self._prepend(type_name)(index, values[name], default)
            elif children.get(name) is not None:
                self.builder.PrependUOffsetTRelativeSlot(index, children[name], 0)
        return self.builder.EndObject()

    def _prepend(self, kind):
        return getattr(self.builder, f"Prepend{kind.capitalize()}Slot")

    def _child(self, kind, value):
        """The place of a string, list or table; None if there is none."""
        element = _element_of(kind)
        if value is None:
            return self._list(element, []) if kind.endswith("!") else None
        if element:
            return self._list(element, value)
        return self.builder.CreateString(value) if kind == "string" else self._table(kind, value)

    def _list(self, element, values):
        if element in SCALARS:
            return self.builder.CreateNumpyVector(np.asarray(values, element))
        places = [self._child(element, value) for value in values]
        self.builder.StartVector(4, len(places), 4)
        for place in reversed(places):
            self.builder.PrependUOffsetTRelative(place)
        return self.builder.EndVector()


def _array(stored, nominal, external):
    """The array of a table Tensor. `external()` returns the bytes of the file of external data."""
    name, number = stored["name"], stored.get("data_type", 0)
    if number not in TYPES:
        raise CheckpointError(f"tensor '{name}': expected a float, integer or bool type, got type "
                              f"{number} of ONNX")
    shape, dtype = tuple(int(dim) for dim in stored["dims"]), np.dtype(TYPES[number])
    if nominal:
        return np.broadcast_to(np.zeros((), dtype), shape)
    data, offset = stored.get("raw_data", b""), stored.get("external_data_offset", -1)
    count = math.prod(shape)
    if offset >= 0:
        return np.frombuffer(external(), dtype, count, offset).reshape(shape)
    if len(data) != count * dtype.itemsize:
        raise CheckpointError(f"tensor '{name}': expected {count * dtype.itemsize} bytes for shape "
                              f"{shape}, got {len(data)}")
    return np.frombuffer(data, dtype).reshape(shape)


def _tensor(name, array, nominal=False):
    """The table Tensor of an array."""
    numbers = {name: number for number, name in TYPES.items()}
    if array.dtype.name not in numbers:
        raise CheckpointError(f"tensor '{name}': expected a float, integer or bool type, got "
                              f"{array.dtype.name}")
    table = {"name": name, "dims": array.shape, "data_type": numbers[array.dtype.name]}
    if not nominal:
        table["raw_data"] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return table


def _parse(data, external):
    table = _Reader(data).root("Checkpoint")
    if table.get("version") not in (1, 2):
        raise CheckpointError(f"expected version 1 or 2, got {table.get('version')}")
    module = table.get("module_state", {})
    nominal = bool(module.get("is_nominal_state", False))

    def arrays(tensors, nominal=False):
        return {tensor["name"]: _array(tensor, nominal, external) for tensor in tensors}

    result = Checkpoint(arrays(module.get("requires_grad_params", ()), nominal),
                        arrays(module.get("frozen_params", ()), nominal), nominal)
    groups = table.get("optimizer_groups", ())
    if len(groups) > 1:
        raise CheckpointError(f"expected at most one group of parameters, got {len(groups)}")
    for group in groups:
        result.step = group.get("step", 0)
        result.learning_rate = group.get("initial_learning_rate", 0.0)
        result.moments = {state["param_name"]: arrays(state["momentums"])
                          for state in group["optimizer_states"]}
    for properties in table.get("property_bag", {}).values():
        result.properties |= {entry["name"]: entry.get("value", 0) for entry in properties}
    return result


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
        return _parse(data, lambda: np.memmap(f"{path}.data", np.uint8, "r"))
    except CheckpointError as error:
        raise CheckpointError(f"'{path}': {error}") from None
    except (struct.error, ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise CheckpointError(f"'{path}' is damaged or cut off: {error}") from error


def _properties(values):
    """The table PropertyBag. Numbers of numpy are as good as those of Python."""
    bag = {"ints": [], "floats": [], "strings": []}
    for name, value in values.items():
        kind = ("strings" if isinstance(value, str) else
                "ints" if isinstance(value, (int, np.integer)) else
                "floats" if isinstance(value, (float, np.floating)) else None)
        if kind is None:
            raise CheckpointError(f"property '{name}': expected an int, a float or a string, got "
                                  f"{type(value).__name__}")
        bag[kind].append({"name": name, "value": value})
    return bag


def _table_of(state):
    def tensors(arrays):
        return [_tensor(name, array, state.nominal) for name, array in arrays.items()]

    table = {"version": VERSION, "property_bag": _properties(state.properties),
             "module_state": {"requires_grad_params": tensors(state.trained),
                              "frozen_params": tensors(state.frozen),
                              "is_nominal_state": state.nominal}}
    if state.step is not None:
        states = [{"param_name": name,
                   "momentums": [_tensor(moment, array) for moment, array in moments.items()]}
                  for name, moments in state.moments.items()]
        table["optimizer_groups"] = [{"group_name": GROUP, "step": state.step,
                                      "initial_learning_rate": state.learning_rate or 0.0,
                                      "optimizer_states": states}]
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
    data = _Writer().file("Checkpoint", _table_of(state))
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
