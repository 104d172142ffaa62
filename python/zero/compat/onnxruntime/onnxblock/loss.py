"""Losses. Each is called with the name of a value of the model, and adds the input that it compares
this with, unless the model has it."""

import numpy as np
from onnx import TensorProto, helper

from ..errors import TrainingError
from ..graphs import unique_name
from .blocks import (Block, InputLike, ReduceMean, ReduceSum, add_initializer, add_node, has_value,
                     like)


def _checked(reduction):
    if reduction not in ("mean", "sum", "none"):
        raise TrainingError(f"expected the reduction 'mean', 'sum' or 'none', got {reduction!r}")
    return reduction


class _Reduced(Block):
    """A loss of the elements, and its mean, sum, or neither."""

    def __init__(self, reduction="mean"):
        self._reduction = _checked(reduction)

    def _reduce(self, name):
        if self._reduction == "none":
            return name
        reduction = ReduceMean if self._reduction == "mean" else ReduceSum
        return reduction(keepdims=False)(name)

    def _target(self, loss_input_name, target_name):
        if not has_value(self.base, target_name):
            InputLike(loss_input_name)(target_name)
        return target_name


class MSELoss(_Reduced):
    """The square of the difference of output and target."""

    def build(self, loss_input_name, target_name="target"):
        target = self._target(loss_input_name, target_name)
        difference = add_node(self.base, "Sub", [loss_input_name, target])
        return self._reduce(add_node(self.base, "Mul", [difference, difference]))


class L1Loss(_Reduced):
    """The absolute difference of output and target."""

    def build(self, loss_input_name, target_name="target"):
        target = self._target(loss_input_name, target_name)
        difference = add_node(self.base, "Sub", [loss_input_name, target])
        return self._reduce(add_node(self.base, "Abs", [difference]))


class BCEWithLogitsLoss(_Reduced):
    """Binary cross entropy of logits x and targets z of any value from 0 to 1.

    weight, pos_weight: arrays that broadcast against the logits; pos_weight applies to the targets.

    It is (1 - z) x + (1 + (pos_weight - 1) z) log(1 + exp(-x)), which, unlike the logarithm of a
    sigmoid, is finite for all logits.
    """

    def __init__(self, weight=None, reduction="mean", pos_weight=None):
        super().__init__(reduction)
        self._weight, self._pos_weight = weight, pos_weight

    def build(self, loss_input_name, target_name="target"):
        model, target = self.base, self._target(loss_input_name, target_name)
        one = add_initializer(model, "bceloss.one", np.array([1], "float32"))
        absent = add_node(model, "Sub", [one, target])
        small = add_node(model, "Softplus", [add_node(model, "Neg", [loss_input_name])])
        if self._pos_weight is not None:
            more = add_initializer(model, "bceloss.pos_weight",
                                   np.asarray(self._pos_weight, "float32") - 1)
            factor = add_node(model, "Add", [one, add_node(model, "Mul", [more, target])])
            small = add_node(model, "Mul", [factor, small])
        loss = add_node(model, "Add", [add_node(model, "Mul", [absent, loss_input_name]), small])
        if self._weight is not None:
            weight = add_initializer(model, "bceloss.weight", np.asarray(self._weight, "float32"))
            loss = add_node(model, "Mul", [weight, loss])
        return self._reduce(loss)


class CrossEntropyLoss(Block):
    """Cross entropy of scores, whose classes are the last of two dimensions, and labels.

    weight: an array with a factor for each class. ignore_index: a label that does not count.
    """

    def __init__(self, weight=None, reduction="mean", ignore_index=None):
        self._weight, self._ignore_index = weight, ignore_index
        self._reduction = _checked(reduction)

    def build(self, scores_input_name, labels_name="labels"):
        model = self.base
        if not has_value(model, labels_name):
            self._add_labels(scores_input_name, labels_name)
        inputs = [scores_input_name, labels_name]
        if self._weight is not None:
            inputs.append(add_initializer(model, "celoss.weight",
                                          np.asarray(self._weight, "float32")))
        attributes = {"reduction": self._reduction}
        if self._ignore_index is not None:
            attributes["ignore_index"] = self._ignore_index
        outputs = [unique_name(model.graph, base) for base in ("loss", "log_prob")]
        model.graph.node.append(helper.make_node("SoftmaxCrossEntropyLoss", inputs, outputs,
                                                 **attributes))
        return outputs[0]

    def _add_labels(self, scores, name):
        """An input with the shape of the scores without their last dimension."""
        info = like(self.base, scores)
        info.name = name
        info.type.tensor_type.elem_type = TensorProto.INT64
        del info.type.tensor_type.shape.dim[-1]
        self.base.graph.input.append(info)
