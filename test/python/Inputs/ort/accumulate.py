"""Gradients of several calls, a loss of two parts, frozen parameters, clipped gradients, and
parameters as one buffer, as in federated learning.

usage: accumulate.py FOLDER RESULT.npz
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime.training.onnxblock as onnxblock
from mlp import Samples, make_model, parameter_names, targets_of
from onnxruntime.training import artifacts
from onnxruntime.training.api import CheckpointState, Module, Optimizer

folder, result = Path(sys.argv[1]), sys.argv[2]
record = {}


class WeightedAverageLoss(onnxblock.Block):
    """0.4 of the mean squared error and 0.6 of the absolute one."""

    def __init__(self):
        super().__init__()
        self._loss1 = onnxblock.loss.MSELoss()
        self._loss2 = onnxblock.loss.L1Loss()
        self._w1 = onnxblock.blocks.Constant(0.4)
        self._w2 = onnxblock.blocks.Constant(0.6)
        self._add = onnxblock.blocks.Add()
        self._mul = onnxblock.blocks.Mul()

    def build(self, loss_input_name):
        first = self._mul(self._w1(), self._loss1(loss_input_name, target_name="target1"))
        second = self._mul(self._w2(), self._loss2(loss_input_name, target_name="target2"))
        return self._add(first, second)


def make(prefix, optimizer, frozen=()):
    trained = [name for name in parameter_names() if name not in frozen]
    artifacts.generate_artifacts(
        make_model(), requires_grad=trained, frozen_params=list(frozen),
        loss=WeightedAverageLoss(), optimizer=optimizer, artifact_directory=folder, prefix=prefix,
        nominal_checkpoint=True)


def load(prefix, checkpoint="checkpoint"):
    state = CheckpointState.load_checkpoint(folder / (prefix + checkpoint))
    module = Module(folder / f"{prefix}training_model.onnx", state,
                    folder / f"{prefix}eval_model.onnx")
    return state, module, Optimizer(folder / f"{prefix}optimizer_model.onnx", module)


def train(module, optimizer, steps, calls, seed):
    """Losses of all calls; the optimizer steps after each `calls` of them."""
    losses = []
    module.train()
    for number, (data, labels) in enumerate(Samples(steps * calls, seed)):
        target = targets_of(labels)
        losses.append(module(data, target, 1 - target))
        if (number + 1) % calls == 0:
            optimizer.step()
            module.lazy_reset_grad()
    return np.array([np.sum(loss) for loss in losses])


def parameters(state):
    return {name: np.array(parameter.data) for name, parameter in state.parameters}


# Several calls of one step, with both optimizers and with clipped gradients.
clipped = onnxblock.optim.SGD(clip_grad=onnxblock.optim.ClipGradNorm(0.1))
adamw = onnxblock.optim.AdamW(betas=(0.8, 0.99), eps=1e-5, weight_decay=0.1)
for case, optimizer_block, rate in (("sgd.", onnxblock.optim.SGD(), 0.05),
                                    ("clipped.", clipped, 0.5), ("adamw.", adamw, 0.01)):
    make(case, optimizer_block)
    state, module, optimizer = load(case)
    optimizer.set_learning_rate(rate)
    record[case + "losses"] = np.concatenate([train(module, optimizer, 6, calls, seed=calls)
                                              for calls in (1, 3, 2)])
    for name, value in parameters(state).items():
        record[f"{case}parameter.{name}"] = value

# The gradient of two calls.
state, module, optimizer = load("sgd.")
for data, labels in Samples(2, seed=5):
    module(data, targets_of(labels), 1 - targets_of(labels))
record["gradient"] = np.array(state.parameters["fc2.weight"].grad)

# Frozen parameters, and buffers of parameters.
make("frozen.", artifacts.OptimType.SGD, frozen=["fc1.weight", "fc1.bias"])
state, module, optimizer = load("frozen.")
record["requires_grad"] = [f"{name}={parameter.requires_grad}"
                           for name, parameter in state.parameters]
optimizer.set_learning_rate(0.05)
record["sizes"] = [module.get_parameters_size(True), module.get_parameters_size(False)]
before = module.get_contiguous_parameters(trainable_only=True).numpy()
record["frozen.losses"] = train(module, optimizer, 4, 1, seed=6)
after = module.get_contiguous_parameters(trainable_only=True)
record["buffer"], record["change"] = after.numpy(), after.numpy() - before
record["all"] = module.get_contiguous_parameters().numpy()

# Another device takes the buffer: its checkpoint has no values of its own.
_, other, _ = load("frozen.", "nominal_checkpoint")
other.copy_buffer_to_parameters(module.get_contiguous_parameters(), trainable_only=False)
data, labels = next(iter(Samples(1, seed=8)))
record["evaluated"] = [np.sum(each.eval()(data, targets_of(labels), 1 - targets_of(labels)))
                       for each in (module, other)]

# A parameter that is assigned.
state.parameters["fc3.bias"] = np.full(4, 0.25, np.float32)
record["assigned"] = np.sum(module(data, targets_of(labels), 1 - targets_of(labels)))
state.parameters["fc3.bias"].data = np.zeros(4, np.float32)
record["assigned.training"] = np.sum(module.train()(data, targets_of(labels),
                                                   1 - targets_of(labels)))
np.savez(result, **record)
