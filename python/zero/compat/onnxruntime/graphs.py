"""Changes of ONNX models: what artifacts are made of, and what is compiled of them."""

import copy
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .errors import TrainingError

# In the metadata of a training model of Zero: the names of what it trains, as JSON.
TRAINED_KEY = "zero.requires_grad"
MICROSOFT, TRAINING = "com.microsoft", "ai.onnx.preview.training"
ACCUMULATOR, BUFFER, FLAG = "InPlaceAccumulatorV2", "_grad.accumulation.buffer", "lazy_reset_grad"


def names_in(graph):
    """All names of values of a graph, and of the graphs in its nodes."""
    names = {value.name for values in (graph.input, graph.output, graph.initializer)
             for value in values}
    for node in graph.node:
        names.update(node.input, node.output)
        for inner in _graphs_of(node):
            names |= names_in(inner)
    return names


def unique_name(graph, base):
    """`base`, or `base.N` if the graph has that name."""
    taken, name, count = names_in(graph), base, 0
    while name in taken:
        count += 1
        name = f"{base}.{count}"
    return name


def value_info(model, name):
    """The type of the input, output or inner value `name`; None if it is unknown."""
    graph = model.graph
    for values in (graph.input, graph.output, graph.value_info):
        for value in values:
            if value.name == name:
                return value
    return None


def set_opset(model, domain):
    """Imports version 1 of `domain`, unless the model does."""
    if all(entry.domain != domain for entry in model.opset_import):
        model.opset_import.append(helper.make_opsetid(domain, 1))


def initializers(model):
    """The initializers by name, as arrays."""
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def move_to_inputs(model, names):
    """Makes inputs of the initializers `names`."""
    inputs = {value.name for value in model.graph.input}
    kept = []
    for tensor in model.graph.initializer:
        if tensor.name not in names:
            kept.append(tensor)
        elif tensor.name not in inputs:
            model.graph.input.append(
                helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)


def move_to_initializers(model, arrays):
    """Makes initializers of the inputs that `arrays` has values for."""
    kept = []
    for value in model.graph.input:
        if value.name in arrays:
            array = np.ascontiguousarray(arrays[value.name])
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))
        else:
            kept.append(value)
    del model.graph.input[:]
    model.graph.input.extend(kept)


def evaluation_of(model):
    """A copy of `model` in which Dropout and BatchNormalization are not in training mode."""
    model = copy.deepcopy(model)
    for node in model.graph.node:
        if node.op_type == "Dropout" and len(node.input) > 2:
            node.input[2] = ""
        elif node.op_type == "BatchNormalization":
            for attribute in node.attribute:
                if attribute.name == "training_mode" and attribute.i:
                    attribute.i = 0
                    del node.output[1:]
    return model


def _graphs_of(node):
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            yield from attribute.graphs


def _reads(node):
    """Names that a node reads, also in the graphs of its attributes."""
    names = set(node.input)
    for graph in _graphs_of(node):
        for inner in graph.node:
            names |= _reads(inner)
        names.update(output.name for output in graph.output)
    return names - {""}


def prune(model, outputs, keep_inputs=False):
    """A copy of `model` with the outputs `outputs` and what they depend on.

    keep_inputs: also keep inputs that they do not depend on.

    Raises TrainingError if the model has no value of such a name.
    """
    model = copy.deepcopy(model)
    graph = model.graph
    known = names_in(graph)
    for name in outputs:
        if name not in known:
            raise TrainingError(f"expected names of values of the model, got '{name}'")
    needed, nodes = set(outputs), []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            nodes.append(node)
            needed |= _reads(node)
    infos = [value_info(model, name) or onnx.ValueInfoProto(name=name) for name in outputs]
    kept = {"input": [value for value in graph.input if keep_inputs or value.name in needed],
            "initializer": [value for value in graph.initializer if value.name in needed],
            "node": nodes[::-1], "output": [copy.deepcopy(info) for info in infos]}
    for field, values in kept.items():
        del getattr(graph, field)[:]
        getattr(graph, field).extend(values)
    return model


class TrainingModel:
    """A training model: one of onnxruntime-training, with gradients, or one of Zero, without.

    model: the onnx.ModelProto.
    trained: the names of the parameters that it trains, in the order of its inputs.
    outputs: what a call of the module returns; the first is the loss.
    """

    def __init__(self, model):
        self.model, graph = model, model.graph
        self.accumulators = [node for node in graph.node
                             if node.op_type == ACCUMULATOR and node.domain == MICROSOFT]
        metadata = {entry.key: entry.value for entry in model.metadata_props}
        if self.accumulators:
            trained = {node.input[0].removesuffix(BUFFER) for node in self.accumulators}
        elif TRAINED_KEY in metadata:
            trained = set(json.loads(metadata[TRAINED_KEY]))
        else:
            raise TrainingError("expected a training model that generate_artifacts wrote, of Zero "
                                "or of onnxruntime-training")
        self.trained = [value.name for value in graph.input if value.name in trained]
        flags = {name for node in self.accumulators for name in node.output}
        self.outputs = [value.name for value in graph.output if value.name not in flags]

    def inputs(self, parameters):
        """The names of the inputs of a batch: those that are no state."""
        state = {*parameters, FLAG, *(node.input[0] for node in self.accumulators)}
        return [value.name for value in self.model.graph.input if value.name not in state]

    def loss_of(self, value):
        """A number as the output that is the loss, which may have the shape () or (1)."""
        info = next(output for output in self.model.graph.output if output.name == self.outputs[0])
        return np.full([1] * len(info.type.tensor_type.shape.dim), value, np.float32)

    def forward(self):
        """The model without gradients."""
        return prune(self.model, self.outputs)

    def step(self, calls):
        """The model with the accumulation of gradients, which are those of the sum of the losses of
        `calls` calls. Zero takes the mean over micro-batches."""
        model = copy.deepcopy(self.model)
        if self.accumulators:
            _set_loss_gradient(model, self.outputs[0], calls)
        else:
            _add_gradients(model, self.trained, _scaled(model, self.outputs[0], calls))
        return model

    def step_flags(self, calls):
        """Keywords of zero.compile() for a step of some calls."""
        if calls == 1:
            return {}
        # The mean of a call is over its own labels, if some do not count. Zero cannot choose where
        # the model has gradients.
        mean = {} if self.accumulators else {"loss_mean": "local"}
        return {"micro_batches": calls, **mean}


def _scaled(model, name, factor):
    """The name of a value times a factor."""
    if factor == 1:
        return name
    graph = model.graph
    constant, result = unique_name(graph, "calls"), unique_name(graph, f"{name}.scaled")
    graph.initializer.append(helper.make_tensor(constant, TensorProto.FLOAT, [], [float(factor)]))
    graph.node.append(helper.make_node("Mul", [name, constant], [result]))
    return result


def _set_loss_gradient(model, loss, value):
    """Sets the gradient of the loss, the constant from which onnxruntime's backward pass begins."""
    for tensor in model.graph.initializer:
        if tensor.name == f"{loss}_grad":
            tensor.CopyFrom(numpy_helper.from_array(np.array(value, np.float32), tensor.name))
            return
    if value != 1:
        raise TrainingError(f"expected a constant '{loss}_grad' in the training model, whose "
                            f"gradients can then be those of several calls")


def _add_gradients(model, trained, loss):
    """Adds the gradients of `loss`, as a node Gradient, and their accumulation."""
    graph, names = model.graph, [f"{name}_grad" for name in trained]
    types = {value.name: value.type for value in graph.input}
    graph.node.append(helper.make_node("Gradient", trained, names, domain=TRAINING, xs=trained,
                                       y=loss))
    graph.input.append(helper.make_tensor_value_info(FLAG, TensorProto.BOOL, [1]))
    for name, gradient in zip(trained, names):
        graph.input.append(helper.make_value_info(name + BUFFER, types[name]))
        output = f"{gradient}.accumulation.out"
        graph.node.append(helper.make_node(ACCUMULATOR, [name + BUFFER, gradient, FLAG], [output],
                                           domain=MICROSOFT))
        graph.output.append(helper.make_tensor_value_info(output, TensorProto.BOOL, [1]))
    set_opset(model, TRAINING)
    set_opset(model, MICROSOFT)
