"""Draws a batch and parameters for a model."""

import copy
import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper

# What PyTorch's exporter notes about an embedding: the row padding_idx gets no gradient.
_PADDING = re.compile(r"aten\.embedding\.default\]\(args = \(%\w+, %\w+, (\d+)")
# Operators whose result holds elements of their first operand, which may be indices.
_MOVES = {"Cast", "CastLike", "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND",
          "Identity", "Pad", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose",
          "Unsqueeze", "Where"}


def _limit(node, place, shapes):
    """The number of values that an operand which a node takes as an index may have, or None."""
    def size(operand, axis):
        return shapes[node.input[operand]][axis]

    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
    if node.op_type in ("Gather", "GatherElements") and place == 1:
        return size(0, axis)
    if node.op_type in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss") and place == 1:
        return size(0, 1)
    return None


def index_limit(graph, name, shapes):
    """The least number of values that anything which an input indexes has, or None."""
    moved, limits = {name}, []
    for node in graph.node:
        for place, operand in enumerate(node.input):
            if operand in moved:
                limits.append(_limit(node, place, shapes))
                if node.op_type in _MOVES and limits[-1] is None:
                    moved.update(node.output)
    return min((limit for limit in limits if limit is not None), default=None)


def draw_zeros(graph):
    """Zeros for the inputs of a graph, one for each symbolic size."""
    types = [value.type.tensor_type for value in graph.input]
    return {value.name: np.zeros([size.dim_value or 1 for size in kind.shape.dim],
                                 widened(helper.tensor_dtype_to_np_dtype(kind.elem_type).name))
            for value, kind in zip(graph.input, types)}


def filled(model):
    """A copy of the model with values for weights that were not read."""
    model = copy.deepcopy(model)
    random = np.random.default_rng(0)
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            # Gains of normalizations have one dimension.
            values = 0.1 * random.standard_normal(tensor.dims, np.float32) + (len(tensor.dims) == 1)
            tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float32), tensor.name))
    return model


def draw_batch(graph, evaluation, inputs, random):
    """Arrays for the inputs of a program: floats are normal, indices below what they index, and
    other integers are one, as in a mask that hides nothing."""
    zeros = {value.name: np.zeros(value.shape, widened(value.dtype)) for value in inputs}
    shapes = {name: np.shape(value) for name, value in evaluation.values(zeros).items()}
    batch = {}
    for value in inputs:
        limit = index_limit(graph, value.name, shapes)
        if value.dtype.startswith("float"):
            batch[value.name] = random.standard_normal(value.shape, np.float32)
        elif limit is None:
            batch[value.name] = np.ones(value.shape, value.dtype)
        else:
            batch[value.name] = random.integers(0, limit, value.shape, value.dtype)
    return batch


def widened(dtype):
    return "float64" if dtype == "float32" else dtype


def draw_parameters(initial, random):
    """Float32 values near the initial ones, so that no gradient is zero because a weight is."""
    drawn = {}
    for name, value in initial.items():
        spread = 0.1 * np.sqrt(np.mean(value ** 2)) or 0.02
        drawn[name] = (value + spread * random.standard_normal(value.shape)).astype(np.float32)
    return drawn


def padding_rows(graph):
    """Rows of parameters of which the model says that they get no gradient, by name."""
    rows = {}
    for node in graph.node:
        for note in node.metadata_props:
            found = _PADDING.search(note.value)
            if found and node.op_type == "Gather":
                rows[node.input[0]] = int(found[1])
    return rows
