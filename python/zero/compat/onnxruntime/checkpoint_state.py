"""CheckpointState: parameters, properties and state of the optimizer."""

import os

import numpy as np

from .checkpoint_file import Checkpoint, read_checkpoint, write_checkpoint
from .errors import TrainingError
from .values import as_array


class Parameter:
    """A parameter of a CheckpointState."""

    def __init__(self, state, name):
        self._state, self._name = state, name

    @property
    def name(self):
        return self._name

    @property
    def data(self):
        """A copy of the value, an array of numpy. Assign an array to change the parameter."""
        return self._state.read(self._name)

    @data.setter
    def data(self, value):
        self._state.write({self._name: value})

    @property
    def grad(self):
        """The gradient of the calls since the last lazy_reset_grad(), an array of numpy; None if
        there are none, if it is not trained, or after a step of the optimizer."""
        module = self._state.module
        gradients = module.gradients() if module is not None else {}
        return gradients.get(self._name)

    @property
    def requires_grad(self):
        return self._name in self._state.file.trained

    def __repr__(self):
        return f"Parameter(name={self.name}, requires_grad={self.requires_grad})"


class Parameters:
    """The parameters of a CheckpointState by name."""

    def __init__(self, state):
        self._state = state

    def __getitem__(self, name):
        if name not in self:
            raise KeyError(f"Parameter {name} not found.")
        return Parameter(self._state, name)

    def __setitem__(self, name, value):
        self[name].data = value

    def __contains__(self, name):
        return name in self._state.names()

    def __iter__(self):
        for name in self._state.names():
            yield name, Parameter(self._state, name)

    def __len__(self):
        return len(self._state.names())

    def __repr__(self):
        return repr(self._state.names())


class Properties:
    """Numbers and strings of the user, which checkpoints have."""

    def __init__(self, values):
        self._values = values

    def __getitem__(self, name):
        if name not in self._values:
            raise KeyError(f"Property {name} not found.")
        return self._values[name]

    def __setitem__(self, name, value):
        if not isinstance(value, (int, float, str, np.integer, np.floating)):
            raise TypeError(f"property '{name}': expected an int, a float or a string, got "
                            f"{type(value).__name__}")
        self._values[name] = value

    def __contains__(self, name):
        return name in self._values

    def __iter__(self):
        return iter(self._values.items())

    def __len__(self):
        return len(self._values)

    def __repr__(self):
        return repr(list(self._values))


class _State:
    """The values of a training, here or in the memory of a session.

    file: a Checkpoint with the values as last read. Those of parameters are those of `version`
        unless `holder` is set: a function that returns them by name.
    version: grows with each change of parameters, so that sessions know whether theirs are old.
    module: the Module that trains them, or None.
    """

    def __init__(self, file):
        self.file, self.version, self.holder, self.module = file, 0, None, None
        self.missing = set(self.names()) if file.nominal else set()

    def names(self):
        return sorted([*self.file.trained, *self.file.frozen])

    def _group(self, name):
        return self.file.trained if name in self.file.trained else self.file.frozen

    def values(self):
        """All parameters by name. Raises TrainingError if some have no values yet."""
        if self.missing:
            raise TrainingError(f"the checkpoint is nominal: expected values, for instance of "
                                f"copy_buffer_to_parameters(), for '{min(self.missing)}'"
                                + (f" and {len(self.missing) - 1} more" if
                                  len(self.missing) > 1 else ""))
        if self.holder is not None:
            for name, value in self.holder().items():
                self._group(name)[name] = value
            self.holder = None
        return self.file.trained | self.file.frozen

    def read(self, name):
        return np.array(self.values()[name])

    def write(self, values):
        """Changes some parameters, given by name. Raises TrainingError for another shape."""
        for name, value in values.items():
            shape, dtype = self._group(name)[name].shape, self._group(name)[name].dtype
            if as_array(value).shape != shape or as_array(value).dtype != dtype:
                raise TrainingError(f"parameter '{name}': expected {dtype} of shape {shape}, got "
                                    f"{as_array(value).dtype} of shape {as_array(value).shape}")
        if self.module is not None:
            self.module.settle()
        self.missing -= values.keys()
        if not self.missing:
            self.values()
        for name, value in values.items():
            self._group(name)[name] = np.array(as_array(value))
        self.file.nominal = bool(self.missing)
        self.version += 1

    def step_done(self, holder):
        """Parameters have been updated; `holder()` returns them."""
        self.version += 1
        self.holder = holder


class CheckpointState:
    """Parameters, properties and state of the optimizer. Use load_checkpoint()."""

    def __init__(self, state):
        if not isinstance(state, _State):
            raise TypeError(f"expected CheckpointState.load_checkpoint(path), got "
                            f"CheckpointState({type(state).__name__})")
        self._state = state
        self._parameters = Parameters(state)
        self._properties = Properties(state.file.properties)

    @classmethod
    def load_checkpoint(cls, checkpoint_uri):
        """The state in the checkpoint, a path. It may be nominal: without values.

        Raises CheckpointError if it is no checkpoint, and OSError.
        """
        return cls(_State(read_checkpoint(checkpoint_uri)))

    @classmethod
    def save_checkpoint(cls, state, checkpoint_uri, include_optimizer_state=False):
        """Writes `state` as a checkpoint. zeroc, zero-run and onnxruntime-training read it, too.

        include_optimizer_state: also the moments of the optimizer, its count of steps and its
            learning rate, from which training goes on as if it had not been interrupted.
        """
        inner = state._state
        inner.values()
        file = Checkpoint(inner.file.trained, inner.file.frozen,
                          properties=inner.file.properties)
        if include_optimizer_state:
            if inner.module is not None:
                inner.module.read_optimizer()
            file.moments, file.step = inner.file.moments, inner.file.step
            file.learning_rate = inner.file.learning_rate
        write_checkpoint(os.fspath(checkpoint_uri), file)

    @property
    def parameters(self):
        return self._parameters

    @property
    def properties(self):
        return self._properties
