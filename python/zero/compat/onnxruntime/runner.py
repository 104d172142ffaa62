"""Models that are compiled for the shapes of each batch, and their sessions."""

import tempfile
from pathlib import Path

import numpy as np
import onnx

from ...compiler import compile
from ...session import Session
from .checkpoint_file import Checkpoint, write_checkpoint
from .errors import TrainingError


class Files:
    """The temporary files of a module: models to compile, and initial values.

    state: the _State of a CheckpointState.
    """

    def __init__(self, state):
        self._state = state
        self._temporary = tempfile.TemporaryDirectory(prefix="zero-ort-")
        self._checkpoint = None

    def write_model(self, model, name):
        """Writes an onnx.ModelProto; returns its path."""
        path = Path(self._temporary.name) / f"{name}.onnx"
        onnx.save(model, path)
        return path

    @property
    def checkpoint(self):
        """The path of a checkpoint with the state of when it is first asked for. Programs read
        their initial values there, so it does not change."""
        if self._checkpoint is None:
            state, file = self._state, self._state.file
            state.values()
            # State that the optimizer does not have yet begins as zero.
            full = Checkpoint(file.trained, file.frozen, moments=file.moments, step=file.step,
                              learning_rate=file.learning_rate)
            path = Path(self._temporary.name) / "checkpoint"
            write_checkpoint(path, full)
            self._checkpoint = path
        return self._checkpoint


class Runner:
    """One model, compiled once for each form of a batch, with one session at a time.

    files: the Files of the module.
    name: of the files of the models.
    model: a function that returns the onnx.ModelProto for a number of calls in a step.
    threads: of a session.
    step_flags: a function that returns keywords of zero.compile() for a number of calls.
    flags: further keywords.
    """

    def __init__(self, files, name, model, threads, step_flags=None, **flags):
        self._files, self._name, self._model = files, name, model
        self._threads, self._flags = threads, flags
        self._step_flags = step_flags or (lambda calls: {})
        self._models, self._programs = {}, {}
        self._key = self._session = self._version = None

    def session(self, state, shapes, calls=1):
        """A session with the parameters of `state`, for a step of some calls.

        shapes: of one call, by the names of the inputs.
        """
        key = (calls, tuple(shapes.items()))
        if key != self._key:
            self._start(key, shapes, calls)
        if self._version != state.version:
            self._take(state.values())
            self._version = state.version
        return self._session

    def values(self, names):
        """Tensors of the session by name, those of `names` that it has; empty if there is none."""
        if self._session is None:
            return {}
        known = {value.name for value in self._session.program.tensors}
        return {name: self._session.tensor(name) for name in names if name in known}

    def updated(self, version):
        """The session has made the parameters of that version."""
        self._version = version

    def _take(self, values):
        known = {value.name for value in self._session.program.tensors}
        self._session.load_state_dict({name: value for name, value in values.items()
                                       if name in known}, strict=False)

    def _start(self, key, shapes, calls):
        """Replaces the session by one for another form of batch, which goes on from its state."""
        if key not in self._programs:
            self._programs[key] = self._compile(shapes, calls)
        carried = {}
        if self._session is not None:
            carried = self._session.state_dict()
            self._session.close()
        # A loss that is not finite is the caller's concern, as in onnxruntime.
        self._session = Session(self._programs[key], threads=self._threads, allow_nan=True)
        self._key = key
        if carried:
            self._take(carried)

    def _compile(self, shapes, calls):
        if calls not in self._models:
            model = self._model(calls)
            inputs = {value.name for value in model.graph.input}
            self._models[calls] = self._files.write_model(model, f"{self._name}-{calls}"), inputs
        path, inputs = self._models[calls]
        bound = {name: _of_rank(name, shape, self._flags.get("ranks", 1))
                 for name, shape in shapes.items() if name in inputs and shape}
        flags = {"threads_per_rank": self._threads} | self._step_flags(calls) | self._flags
        return compile(path, ort_checkpoint=self._files.checkpoint, shape=bound, **flags)


def _of_rank(name, shape, ranks):
    """The shape of the rows of one rank."""
    if shape[0] % ranks:
        raise TrainingError(f"input '{name}': expected a multiple of {ranks} rows for {ranks} "
                            f"ranks, got {shape[0]}")
    return shape[0] // ranks, *shape[1:]


def shapes_of(inputs):
    """The shapes of arrays by name."""
    return {name: array.shape for name, array in inputs.items()}


def join_calls(calls):
    """The batch of a step of several calls, given as dictionaries of arrays by name.

    Rows of the calls follow each other. An input with other rows than the first input, such as a
    mask for all samples, must be the same in all calls.
    """
    if len(calls) == 1:
        return calls[0]
    if any(shapes_of(call) != shapes_of(calls[0]) for call in calls[1:]):
        raise TrainingError("expected calls with inputs of the same shapes before a step of the "
                            "optimizer: they become the micro-batches of one step")
    batch = {}
    rows = next((array.shape[0] for array in calls[0].values() if array.ndim), None)
    for name, first in calls[0].items():
        arrays = [call[name] for call in calls]
        if first.ndim and first.shape[0] == rows:
            batch[name] = np.concatenate(arrays)
        elif all(np.array_equal(first, array) for array in arrays[1:]):
            batch[name] = first
        else:
            raise TrainingError(f"input '{name}': expected {rows} rows, as the first input has, or "
                                f"the same values in all calls before a step of the optimizer")
    return batch
