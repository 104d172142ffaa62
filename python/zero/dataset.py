"""Data of all inputs of a program, and batches of it."""

from pathlib import Path

from . import native
from .arrays import readable
from .batches import by_input, check_names
from .errors import BadDataError, InvalidArgumentError
from .warn import warn


# In the order of zero_rt_packing.
PACKINGS = ("off", "documents", "stream")


def packing_number(pack):
    """The number of a word of PACKINGS."""
    if pack not in PACKINGS:
        raise InvalidArgumentError(f"pack: expected {', '.join(PACKINGS[:-1])} or {PACKINGS[-1]}, "
                                   f"got {pack!r}")
    return PACKINGS.index(pack)


def describe_documents(folder, row_tokens, pack):
    """What becomes of a folder of tokens in rows of so many: the numbers of its documents, of rows,
    and of tokens of documents in these."""
    return native.load().describe_documents(str(folder), row_tokens, packing_number(pack))


class Dataset:
    """Data of all inputs of a program, of which every step reads the next global batch.

    program: the zero.Program.
    source: by the name of the input an array, whose first dimension are samples, or the path of a
        file (`.npy`, `.npz`, or `.bin` with `dtype`); or the path of a .npz with a member NAME or
        input.NAME for each input; or the path of a folder that zero.tokenize() wrote, of which each
        input reads what its name says: ids, labels, mask or positions; or a tuple of arrays in the
        order of the inputs. Row-major arrays and files are not copied or read in advance: they may
        be larger than memory, and must not be changed or cut while steps run.
    shuffle: a number; each epoch then has an order of its own that follows from it.
    dtype: of the elements of files without a header, such as "uint16".
    pack: which documents of a folder share a row: "off", none; "documents", several whole ones that
        fill it; "stream", all of them, one after the other. The model has to know where they begin:
        compile() a folder of Hugging Face with documents=True.

    An input that has the rows of one rank, or one row, while others have more, is the same in
    every step.

    Attributes: samples; samples_per_step, the global batch; steps_per_epoch, 0 if the data is
    smaller than a global batch: its samples are then repeated within the batch.
    """

    def __init__(self, program, source, *, shuffle=None, dtype="uint16", pack="off",
                 _evaluates=False):
        module = native.load()
        self._dtypes = module.dtypes
        self._data = module.Data(program._executable)
        if _evaluates:
            self._data.for_evaluations()
        self._data.pack(packing_number(pack))
        names = [value.name for value in program.inputs]
        source = by_input(names, source)
        check_names(names, source)
        self._shapes = {value.name: value.shape for value in program.inputs}
        for name, value in source.items():
            self._bind(name, value, dtype)
        if shuffle is not None:
            self._data.shuffle(shuffle)
        self.samples, self.samples_per_step, self.steps_per_epoch = self._data.describe()
        self.warn()

    def _bind(self, name, value, dtype):
        if isinstance(value, (str, Path)):
            has_type = Path(value).suffix in (".npy", ".npz") or Path(value).is_dir()
            raw = 0 if has_type else self._dtypes[dtype]
            self._data.bind_file(name, str(value), raw=raw)
            return
        array, number = readable(name, value, self._dtypes)
        try:
            self._data.bind(name, array, number)
        except TypeError:
            raise BadDataError(f"input '{name}': expected an array in the memory of this process, "
                               f"got {type(value).__name__}") from None
        except BadDataError as error:
            shape = tuple(getattr(array, "shape", ()))
            raise BadDataError(f"{error}{self._remedy(name, shape)}") from None

    def _remedy(self, name, got):
        """What to do about rows of another length."""
        expected = tuple(self._shapes[name])
        if len(got) != len(expected) or got[1:] == expected[1:]:
            return ""
        return (f"; every row has the size that the program is compiled for: pad or cut the rows, "
                f"or compile for others, by shape={{'{name}': {(*expected[:1], *got[1:])}}} if the "
                f"dimension is symbolic in the model, else by another export")

    def warn(self):
        """Gives the runtime's warnings about the data as Python's."""
        warn(self._data.warnings())


def one_batch(program, batch):
    """The data of one step: a Dataset, or arrays by name."""
    if isinstance(batch, Dataset):
        return batch
    data = Dataset(program, batch)
    if data.samples > data.samples_per_step:
        raise BadDataError(f"expected a batch of {data.samples_per_step} samples, got "
                           f"{data.samples}; train() divides data into batches")
    return data
