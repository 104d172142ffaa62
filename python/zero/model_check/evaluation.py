"""Evaluates the nodes of an ONNX graph in float64, with the evaluator of the package onnx."""

import contextlib
import warnings

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

from ..errors import UnsupportedError
from .operators import REPLACED

_RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
           "RandomUniformLike", "Dropout"}
_TO = {"Cast": "to", "EyeLike": "dtype"}


def _widen(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        values = numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def _widen_nodes(nodes):
    for node in nodes:
        for attribute in node.attribute:
            _widen(attribute.t)
            _widen_graph(attribute.g)
            if attribute.name == _TO.get(node.op_type) and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE


def _widen_graph(graph):
    """Turns float32 into float64, in place."""
    for tensor in graph.initializer:
        _widen(tensor)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    _widen_nodes(graph.node)


def constants_as_initializers(graph):
    """Turns nodes Constant with a tensor into initializers, so that all parameters are some."""
    nodes = list(graph.node)
    del graph.node[:]
    for node in nodes:
        held = [a.t for a in node.attribute if a.name == "value"]
        if node.op_type == "Constant" and held:
            tensor = graph.initializer.add()
            tensor.CopyFrom(held[0])
            tensor.name = node.output[0]
        else:
            graph.node.append(node)


@contextlib.contextmanager
def _explained():
    """Errors of the evaluator in the body, whose classes depend on the operator, as one of ours."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            yield
        except Exception as error:
            raise UnsupportedError(f"onnx's reference evaluator cannot evaluate the model: "
                                   f"{type(error).__name__}: {error}") from error


def _draws(node):
    """Whether a node draws random numbers in training."""
    return node.op_type in _RANDOM and (node.op_type != "Dropout" or len(node.input) > 2)


class Evaluation:
    """A model with its loss, evaluated in float64.

    Attributes:
        initial: the float32 initializers as float64 arrays, a dictionary by name.
    """

    def __init__(self, model, loss=None):
        for node in model.graph.node:
            name = f"'{node.name or node.output[0]}' ({node.op_type})"
            if _draws(node):
                raise UnsupportedError(f"{name} draws random numbers, which no other evaluation "
                                       f"repeats; export the model without it")
            if node.op_type in ("GRU", "LSTM", "RNN") and any(node.input[4:5]):
                raise UnsupportedError(f"{name} has lengths of sequences, which onnx's reference "
                                       f"evaluator ignores")
        self.initial = {tensor.name: numpy_helper.to_array(tensor).astype(np.float64)
                        for tensor in model.graph.initializer
                        if tensor.data_type == TensorProto.FLOAT}
        _widen_graph(model.graph)
        for function in model.functions:
            _widen_nodes(function.node)
        outputs = [value.name for value in model.graph.output]
        self._loss = loss or ("loss" if "loss" in outputs else outputs[0])
        if self._loss not in outputs:
            raise UnsupportedError(f"expected the loss to be an output of the model, one of "
                                   f"{', '.join(outputs)}, got '{self._loss}'")
        with _explained():
            self._evaluator = ReferenceEvaluator(model, new_ops=REPLACED)
        self._nodes = model.graph.node

    def loss(self, feeds):
        """The loss with these inputs and parameters."""
        with _explained():
            value = np.asarray(self._evaluator.run([self._loss], feeds)[0])
        if value.size != 1:
            raise UnsupportedError(f"expected a scalar loss, got '{self._loss}' of the shape "
                                   f"{value.shape}")
        return float(value.reshape(()))

    def values(self, feeds):
        """Evaluates the graph and returns a dictionary of its tensors by name."""
        with _explained():
            values = self._evaluator.run([self._loss], feeds, intermediate=True)
        types = {name: getattr(value, "dtype", None) for name, value in values.items()}
        for node in self._nodes:
            if (any(types.get(name) == np.float64 for name in node.input) and
                    any(types.get(name) == np.float32 for name in node.output)):
                raise UnsupportedError(f"onnx's reference evaluator rounds '{node.output[0]}' "
                                       f"({node.op_type}) to float32, so differences of the loss "
                                       f"have no digits")
        return values
