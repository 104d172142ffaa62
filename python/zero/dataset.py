"""Data of all inputs of a program, and batches of it."""

import inspect
import warnings
from collections.abc import Mapping
from pathlib import Path

from . import native
from .arrays import readable
from .errors import BadDataError, NotFoundError


def _warn(texts):
    """Warns at the line of the caller's caller that is not of this package."""
    package = str(Path(__file__).parent)
    frame = inspect.currentframe()
    level = 1
    while frame and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    for text in texts:
        warnings.warn(text, stacklevel=level)


class Dataset:
    """Data of all inputs of a program, of which every step reads the next global batch.

    program: the zero.Program.
    source: by the name of the input an array, whose first dimension are samples, or the path of a
        file (`.npy`, `.npz`, or `.bin` with `dtype`); or the path of a .npz with a member NAME or
        input.NAME for each input. Row-major arrays and files are not copied or read in advance:
        they may be larger than memory, and must not be changed or cut while steps run.
    shuffle: a number; each epoch then has an order of its own that follows from it.
    dtype: of the elements of files without a header, such as "uint16".

    An input that has the rows of one rank, or one row, while others have more, is the same in
    every step.

    Attributes: samples; samples_per_step, the global batch; steps_per_epoch, 0 if the data is
    smaller than a global batch: its samples are then repeated within the batch.
    """

    def __init__(self, program, source, *, shuffle=None, dtype="uint16"):
        module = native.load()
        self._dtypes = module.dtypes
        self._data = module.Data(program._executable)
        names = [value.name for value in program.inputs]
        if not isinstance(source, Mapping):
            source = dict.fromkeys(names, Path(source))
        unknown = [name for name in source if name not in names]
        if unknown:
            raise NotFoundError(f"the program has no input '{unknown[0]}'; its inputs are "
                                f"{', '.join(names) or 'none'}")
        for name, value in source.items():
            self._bind(name, value, dtype)
        if shuffle is not None:
            self._data.shuffle(shuffle)
        self.samples, self.samples_per_step, self.steps_per_epoch = self._data.describe()
        self.warn()

    def _bind(self, name, value, dtype):
        if isinstance(value, (str, Path)):
            raw = 0 if Path(value).suffix in (".npy", ".npz") else self._dtypes[dtype]
            self._data.bind_file(name, str(value), raw=raw)
            return
        array, number = readable(name, value, self._dtypes)
        try:
            self._data.bind(name, array, number)
        except TypeError:
            raise BadDataError(f"input '{name}': expected an array in the memory of this process, "
                               f"got {type(value).__name__}") from None

    def warn(self):
        """Gives the runtime's warnings about the data as Python's."""
        _warn(self._data.warnings())


def one_batch(program, batch):
    """The data of one step: a Dataset, or arrays by name."""
    if isinstance(batch, Dataset):
        return batch
    data = Dataset(program, batch)
    if data.samples > data.samples_per_step:
        raise BadDataError(f"expected a batch of {data.samples_per_step} samples, got "
                           f"{data.samples}; train() divides data into batches")
    return data
