"""Optimizers. Each makes an optimizer model, of the same form as onnxruntime-training does."""

from onnx import TensorProto, helper

from ..graphs import MICROSOFT
from .blocks import Block, add_node

SEQUENCES = ["params", "gradients", "first_order_moments", "second_order_moments"]


class ClipGradNorm(Block):
    """Scales gradients down to a global norm of `max_norm`."""

    def __init__(self, max_norm):
        self._max_norm = max_norm

    def build(self, gradients_name):
        return add_node(self.base, "InplaceClipGradNorm", [gradients_name],
                        base="clip_grad_norm_output", domain=MICROSOFT,
                        max_norm=float(self._max_norm))


class _Optimizer(Block):
    """An optimizer model of one update, which reads the sequences `SEQUENCES[:sequences]`."""

    sequences, has_step = 2, False

    def __init__(self, clip_grad=None):
        self._clip_grad = clip_grad

    def _update(self):
        """The operator and its attributes."""
        raise NotImplementedError

    def build(self):
        graph = self.base.graph
        graph.input.append(helper.make_tensor_value_info("learning_rate", TensorProto.FLOAT, [1]))
        graph.input.append(helper.make_tensor_value_info("step", TensorProto.INT64, [1]))
        names = SEQUENCES[:self.sequences]
        for name in names:
            graph.input.append(
                helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None))
        if self._clip_grad is not None:
            names[1] = self._clip_grad(names[1])
        kind, attributes = self._update()
        flag = add_node(self.base, kind, ["learning_rate", *(["step"] * self.has_step), *names],
                        base="updated", domain=MICROSOFT, **attributes)
        graph.output.append(helper.make_tensor_value_info(flag, TensorProto.BOOL, [1]))
        return flag


class AdamW(_Optimizer):
    """AdamW in the form of Transformers: epsilon is added before the bias is corrected, and weights
    decay after the update."""

    sequences, has_step = 4, True

    def __init__(self, bias_correction=True, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0,
                 clip_grad=None):
        super().__init__(clip_grad)
        self._attributes = {"alpha": float(betas[0]), "beta": float(betas[1]),
                            "epsilon": float(eps), "weight_decay": float(weight_decay),
                            "correct_bias": int(bias_correction), "adam_mode": 1}

    def _update(self):
        return "AdamWOptimizer", self._attributes


class SGD(_Optimizer):
    """w - learning_rate * gradient."""

    def _update(self):
        return "SGDOptimizerV2", {}
