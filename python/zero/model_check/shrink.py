"""Shrinks the sizes of an ONNX graph; its nodes and layers stay.

A map of sizes takes each size of a shape to a smaller one. It is applied to the shapes of inputs
and constants, and to integers that state sizes. A map is accepted if the inference of shapes of the
package onnx accepts the graph, and each inferred size is the one before or what the map makes of
it. So no rule about an operator is needed here. Different sizes stay different, so that a gradient
with two of them exchanged is still found.
"""

import copy
import itertools

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from ..errors import UnsupportedError

LEAST = 8  # a size alone is not made smaller
MOST = 200  # maps tried for a size,
TRIED = 8   # of them for a group of multiples
# Operands that state sizes, and attributes.
_SIZES = {"Reshape": [1], "Expand": [1], "Slice": [1, 2], "Split": [1], "Tile": [1],
          "ConstantOfShape": [0], "Range": [0, 1], "Resize": [3], "OneHot": [1], "TopK": [1],
          "CenterCropPad": [1]}
_ATTRIBUTES = {"hidden_size", "group", "value_ints", "value_int", "split", "output_shape"}


def _inferred(model):
    """The dimensions of each value that a node computes, 0 for what is not known."""
    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    computed = {output for node in graph.node for output in node.output}
    return {value.name: [size.dim_value for size in value.type.tensor_type.shape.dim]
            for value in [*graph.output, *graph.value_info] if value.name in computed}


def _skeleton(model):
    """A copy without the elements of constants that do not state sizes."""
    skeleton = copy.deepcopy(model)
    for tensor in skeleton.graph.initializer:
        if tensor.data_type != TensorProto.INT64 or len(tensor.dims) > 1:
            for field in ("raw_data", "float_data", "int64_data", "int32_data", "double_data"):
                tensor.ClearField(field)
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return skeleton


def _map_integers(tensor, sizes):
    values = numpy_helper.to_array(tensor)
    mapped = np.array([sizes.get(int(v), int(v)) for v in values.reshape(-1)], values.dtype)
    tensor.CopyFrom(numpy_helper.from_array(mapped.reshape(values.shape), tensor.name))


def _stated(graph):
    """Names of constants that state sizes."""
    return {node.input[place] for node in graph.node for place in _SIZES.get(node.op_type, ())
            if place < len(node.input)}


def _apply(model, sizes, cut):
    """Applies a map to a copy of the model; `cut` takes a tensor to the new shape."""
    model = copy.deepcopy(model)
    stated = _stated(model.graph)
    for value in model.graph.input:
        for size in value.type.tensor_type.shape.dim:
            if size.HasField("dim_value"):
                size.dim_value = sizes.get(size.dim_value, size.dim_value)
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    for tensor in model.graph.initializer:
        if tensor.name in stated and tensor.data_type == TensorProto.INT64:
            _map_integers(tensor, sizes)
        else:
            cut(tensor, [sizes.get(size, size) for size in tensor.dims])
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name in _ATTRIBUTES:
                attribute.i = sizes.get(attribute.i, attribute.i)
                attribute.ints[:] = [sizes.get(size, size) for size in attribute.ints]
    return model


def _relabel(tensor, shape):
    tensor.dims[:] = shape


def _cut(tensor, shape):
    """Keeps the first elements along each axis, if they are known."""
    if tensor.data_location == TensorProto.EXTERNAL:
        _relabel(tensor, shape)
    elif list(tensor.dims) != shape:
        values = numpy_helper.to_array(tensor)[tuple(slice(size) for size in shape)]
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(values), tensor.name))


def _holds(skeleton, before, sizes):
    """Whether the map is accepted."""
    try:
        after = _inferred(_apply(skeleton, sizes, _relabel))
    except Exception:  # shape inference has a class of its own for each form of error
        return False
    return after.keys() == before.keys() and all(
        len(before[name]) == len(shape) and
        all(to in (size, sizes.get(size, size)) for size, to in zip(before[name], shape))
        for name, shape in after.items())


def _targets(now, least):
    """Smaller sizes than `now`, from the smallest on; its divisors are tried early, because a part
    of a size may be a number of heads, which stays."""
    divisors = (to for to in range(least, now) if now % to == 0)
    pairs = itertools.zip_longest(divisors, range(least, now))
    return dict.fromkeys(to for pair in pairs for to in pair if to)


def _groups(sizes, base):
    """The size alone, with its multiples, and with some of them."""
    multiples = [size for size, to in sizes.items() if to % sizes[base] == 0 and size != base]
    if sizes[base] > LEAST:
        yield (base,)
    for count in range(len(multiples), 0, -1):
        for chosen in itertools.combinations(multiples, count):
            yield (base, *chosen)


def _moves(sizes, base):
    """Maps that make the size `base` smaller, alone or with multiples of it. A size may follow the
    one before it, as the length of padded tokens does."""
    now = sizes[base]
    for group in _groups(sizes, base):
        others = {to for size, to in sizes.items() if size not in group}
        moves = ({size: sizes[size] // now * target for size in group}
                 for target in _targets(now, LEAST if len(group) == 1 else 2))
        for move in itertools.islice((m for m in moves if others.isdisjoint(m.values())), TRIED):
            yield sizes | move
            yield sizes | move | {size + 1: to + 1 for size, to in move.items()
                                  if size + 1 in sizes and size > LEAST}


def find_sizes(model, accepts=lambda sizes: True):
    """The map: small sizes by size.

    accepts: a further condition on a map.
    """
    skeleton = _skeleton(model)
    before = _inferred(_apply(skeleton, {}, _relabel))
    found = {size for shape in before.values() for size in shape}
    found.update(size for tensor in skeleton.graph.initializer for size in tensor.dims)
    sizes = {size: size for size in sorted(found - {0, 1}, reverse=True)}
    for base in sizes:
        moves = itertools.islice(_moves(sizes, base) if sizes[base] > 3 else (), MOST)
        sizes = next((move for move in moves
                      if _holds(skeleton, before, move) and accepts(move)), sizes)
    return sizes


def shrink(model, check):
    """A model of the same nodes with smaller sizes, and the map.

    model: a ModelProto, whose external files need not be read.
    check: raises UnsupportedError for a model that cannot be evaluated, for graphs of which the
        inference of shapes knows too little.
    """
    def evaluates(sizes):
        try:
            check(_apply(model, sizes, _cut))
        except UnsupportedError:
            return False
        return True

    sizes = find_sizes(model)
    if not evaluates(sizes):
        sizes = find_sizes(model, evaluates)
    return _apply(model, sizes, _cut), sizes
