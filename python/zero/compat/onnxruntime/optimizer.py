"""Optimizer, and the schedule of its learning rate."""

import os
from pathlib import Path

import numpy as np

# The rate of an optimizer that was given none.
_RATE = 1e-3


def _rounded(rate):
    return float(np.float32(rate))


class Optimizer:
    """Updates the parameters of a module.

    optimizer_uri: the path of an optimizer model of generate_artifacts, of Zero or of
        onnxruntime-training.
    module: the Module.
    """

    def __init__(self, optimizer_uri, module):
        path = Path(os.fspath(optimizer_uri))
        if not path.is_file():
            raise FileNotFoundError(f"'{path}': expected an optimizer model")
        self._module, self._file = module, module._state.file
        if self._file.learning_rate is None:
            self._file.learning_rate = _rounded(_RATE)
        self._rate = self._file.learning_rate
        module.attach(path)

    @property
    def steps(self):
        """Updates so far, those before the checkpoint was written included."""
        return self._file.step or 0

    def step(self):
        """Updates the parameters with the gradients of the calls since lazy_reset_grad(), which are
        summed. Runs forward and backward pass and update of all of them in one step."""
        self._module.step(self._rate)
        self._file.step = self.steps + 1

    def set_learning_rate(self, learning_rate):
        """Sets the rate of the following steps. Checkpoints keep the initial one."""
        self._rate = _rounded(learning_rate)

    def get_learning_rate(self):
        """The rate of the next step."""
        return self._rate

    def set_initial_learning_rate(self, learning_rate):
        """Sets the rate that checkpoints keep."""
        self._file.learning_rate = _rounded(learning_rate)


class LinearLRScheduler:
    """Raises the learning rate of an optimizer from 0 to `initial_lr` in `warmup_step_count` steps,
    then lowers it to 0 at step `total_step_count`.

    Steps are those of the optimizer, which a checkpoint with its state has, too. The rate is set
    here and by step(), which is called after each step of the optimizer.
    """

    def __init__(self, optimizer, warmup_step_count, total_step_count, initial_lr):
        self._optimizer, self._initial = optimizer, initial_lr
        self._warmup, self._total = warmup_step_count, total_step_count
        optimizer.set_initial_learning_rate(initial_lr)
        self.step()

    def step(self):
        """Sets the rate of the next step."""
        done = self._optimizer.steps
        if done < self._warmup:
            factor = done / max(1, self._warmup)
        else:
            factor = max(0.0, (self._total - done) / max(1, self._total - self._warmup))
        self._optimizer.set_learning_rate(factor * self._initial)
