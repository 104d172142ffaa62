"""Blocks: functions that append nodes to the model of the current generate_artifacts."""

import copy
from abc import ABC, abstractmethod
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..errors import TrainingError
from ..graphs import unique_name, value_info

_model = ContextVar("the model that blocks append to")


@contextmanager
def building(model):
    """Blocks that are called in it append to `model`, an onnx.ModelProto."""
    token = _model.set(model)
    try:
        yield model
    finally:
        _model.reset(token)


class Block(ABC):
    """A function on a model. A call appends nodes, and returns the name of the result.

    Subclasses define `build`, which takes and returns names of values. `base` is the model, an
    onnx.ModelProto, that `build` may also change directly.
    """

    @property
    def base(self):
        try:
            return _model.get()
        except LookupError:
            raise TrainingError(f"{type(self).__name__}: expected a call in generate_artifacts, "
                                f"which has a model to append to") from None

    @abstractmethod
    def build(self, *inputs):
        """Appends nodes; returns the name of the result."""

    def __call__(self, *inputs, **options):
        return self.build(*inputs, **options)


def has_value(model, name):
    """Whether the model has an input, an initializer or a result of that name."""
    graph = model.graph
    return (any(value.name == name for values in (graph.input, graph.initializer)
                for value in values)
            or any(name in node.output for node in graph.node))


def add_node(model, kind, inputs, base=None, domain="", **attributes):
    """Appends a node with one result, and returns its name."""
    output = unique_name(model.graph, base or f"{kind.lower()}_output")
    model.graph.node.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
    return output


def add_initializer(model, base, array):
    """Appends an initializer, and returns its name."""
    name = unique_name(model.graph, base)
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return name


def like(model, name):
    """A copy of the type of an input, output or inner value.

    Raises LookupError if the model has no such value or its type is unknown.
    """
    info = value_info(model, name)
    if info is None:
        info = value_info(onnx.shape_inference.infer_shapes(model), name)
    if info is None or not info.type.tensor_type.HasField("shape"):
        raise LookupError(f"expected a value of the model with a known type and shape, got "
                          f"'{name}'")
    return copy.deepcopy(info)


class _Node(Block):
    """One node of operator `kind`; the attributes are those of the instance."""

    kind = ""

    def __init__(self, **attributes):
        self._attributes = attributes

    def build(self, *inputs):
        return add_node(self.base, self.kind, list(inputs), **self._attributes)


class Add(_Node):
    kind = "Add"


class Sub(_Node):
    kind = "Sub"


class Mul(_Node):
    kind = "Mul"


class Div(_Node):
    kind = "Div"


class Sigmoid(_Node):
    kind = "Sigmoid"


class Log(_Node):
    kind = "Log"


class Neg(_Node):
    kind = "Neg"


class Abs(_Node):
    kind = "Abs"


class _Reduction(_Node):
    def __init__(self, keepdims=True):
        super().__init__(keepdims=int(keepdims))


class ReduceMean(_Reduction):
    """The mean of all elements."""

    kind = "ReduceMean"


class ReduceSum(_Reduction):
    """The sum of all elements."""

    kind = "ReduceSum"


class Cast(_Node):
    kind = "Cast"

    def __init__(self, to):
        super().__init__(to=to)


class Pow(Block):
    """The power with a constant exponent."""

    def __init__(self, exponent):
        self._exponent = exponent

    def build(self, name):
        exponent = add_initializer(self.base, "pow_exponent", np.array([self._exponent], "float32"))
        return add_node(self.base, "Pow", [name, exponent])


class Clip(Block):
    """Limits values; None is no limit."""

    def __init__(self, clip_min=None, clip_max=None):
        self._limits = {"clip_min": clip_min, "clip_max": clip_max}

    def build(self, name):
        limits = [add_initializer(self.base, base, np.array(limit, "float32"))
                  if limit is not None else "" for base, limit in self._limits.items()]
        return add_node(self.base, "Clip", [name, *limits])


class Constant(Block):
    """A constant float of one element."""

    def __init__(self, value_float):
        self._value = value_float

    def build(self):
        return add_initializer(self.base, "initializer", np.array([self._value], "float32"))


class PassThrough(Block):
    """Returns its inputs."""

    def build(self, *inputs):
        return inputs


class InputLike(Block):
    """A new input of the model, with the type of the value `like`."""

    def __init__(self, like):
        self._like = like

    def build(self, input_name=None):
        info = like(self.base, self._like)
        info.name = input_name or unique_name(self.base.graph, "input")
        self.base.graph.input.append(info)
        return info.name
