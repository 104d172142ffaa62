"""Outputs of a model for samples, and metrics of them."""

from collections.abc import Mapping

import numpy as np

from .batches import by_input, check_names
from .dataset import Dataset
from .errors import BadDataError, InvalidArgumentError

# Flags that the program that predicts has in common with the one that trains.
SHARED = ("shape", "ranks", "zero-stage", "threads-per-rank", "device", "gpu-arch", "documents")


def forward_arguments(arguments):
    """The arguments of zeroc for the model without its training."""
    shared = tuple(f"--{name}" for name in SHARED)
    return [each for each in arguments if each.split("=")[0] in shared] + ["--forward-only"]


def _is_label(name):
    """As zero-run decides which input of two reads the labels."""
    return name.lower() == "y" or any(word in name.lower() for word in ("label", "target"))


def _array(value):
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return np.asarray(value)
    return np.from_dlpack(value.detach() if getattr(value, "requires_grad", False) else value)


def is_batch(dataset):
    """Whether a dataset is arrays of all samples rather than an iterable of batches."""
    return isinstance(dataset, (Mapping, np.ndarray)) or hasattr(dataset, "__dlpack__")


class Predictor:
    """A session of a program without training, and which of its outputs have a row for each
    sample."""

    def __init__(self, session):
        self.session = session
        self._inputs = {value.name: value for value in session.program.inputs}
        self.names = list(self._inputs)
        mesh = session.program.mesh
        inner = list(mesh).index("data") + 1 if "data" in mesh else len(mesh)
        self._stride = int(np.prod(list(mesh.values())[inner:], dtype=int))
        self._parts = mesh.get("data", 1)
        self._outputs = None  # known with the first batch

    def predict(self, batch):
        """The outputs of all samples of a batch of any size, in their order, and its arrays."""
        batch, labels = self._complete(batch)
        rows = max(len(array) for array in batch.values())
        outputs = self._predict(batch, rows)
        for name in labels:  # once
            self._check_independent(batch, rows, outputs, name)
        return outputs, batch

    def _complete(self, batch):
        """A batch with data for all inputs, and the names of labels for which it had none."""
        names = self.names
        given = [name for name in names if not _is_label(name)]
        is_all = isinstance(batch, (tuple, list)) and len(batch) == len(names)
        batch = by_input(names if is_all else given, batch)
        batch = {name: _array(value) for name, value in batch.items()}
        missing = [name for name in self._inputs if name not in batch and _is_label(name)]
        rows = max((len(array) for array in batch.values()), default=0)
        for name in missing:
            value = self._inputs[name]
            batch[name] = np.zeros((rows, *value.shape[1:]), value.dtype)
        check_names(names, batch)
        return batch, missing if self._outputs is None else []

    def _check_independent(self, batch, rows, outputs, name):
        other = self._predict({**batch, name: batch[name] + 1}, rows)
        for output, values in outputs.items():
            if not np.array_equal(values, other[output], equal_nan=True):
                self._outputs = None
                raise InvalidArgumentError(f"output '{output}' depends on input '{name}': expected "
                                           f"data for it")

    def _predict(self, batch, rows):
        size = self._size(batch)
        parts = []
        for first in range(0, rows, size):
            count = min(size, rows - first)
            chosen = first + np.arange(size) % count  # an incomplete batch is filled with repeats
            self.session.step({name: array[chosen] if len(array) == rows else array
                               for name, array in batch.items()})
            parts.append({name: self._read(name)[:count] for name in self._outputs})
        return {name: np.concatenate([part[name] for part in parts]) for name in self._outputs}

    def _size(self, batch):
        """The samples of a step."""
        size = Dataset(self.session.program, batch, _evaluates=True).samples_per_step
        if self._outputs is None:
            all_outputs = self.session.program.outputs
            each = size // self._parts
            self._outputs = [value.name for value in all_outputs if value.shape[:1] == (each,)]
            if not self._outputs:
                shapes = ", ".join(f"'{value.name}' {value.shape}" for value in all_outputs)
                raise InvalidArgumentError(f"expected an output with a row for each of the {each} "
                                           f"samples of a rank, got {shapes}: export the model "
                                           f"with its predictions as outputs beside the loss")
        return size

    def _read(self, name):
        """The rows of all ranks."""
        return np.concatenate([self.session.output(name, part * self._stride)
                               for part in range(self._parts)])


class Metrics:
    """The means of metrics over samples.

    functions: by name; each is called as function(outputs, batch) with dictionaries of arrays, and
        returns a number for each sample, or their mean.
    """

    def __init__(self, functions, predictor):
        self._functions, self._predictor = functions, predictor
        self._sums, self._samples = dict.fromkeys(functions, 0.0), 0

    def add(self, batch, first, count):
        """Adds samples of a batch, `count` from `first` on."""
        names = self._predictor.names
        arrays = {name: _array(value) for name, value in by_input(names, batch).items()
                  if name in names}
        rows = max(len(array) for array in arrays.values())
        chosen = {name: array[first:first + count] if len(array) == rows else array
                  for name, array in arrays.items()}
        outputs, _ = self._predictor.predict(chosen)
        for name, function in self._functions.items():
            values = np.asarray(function(outputs, chosen), float)
            if values.size not in (1, count):
                raise BadDataError(f"metric '{name}': expected a number, or one for each of "
                                   f"{count} samples, got {values.shape}")
            self._sums[name] += values.mean() * count
        self._samples += count

    def means(self):
        return {name: float(total / self._samples) for name, total in self._sums.items()}
