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


def samples_per_step(program):
    """Of a global batch."""
    rows = max((value.shape[0] if value.shape else 1 for value in program.inputs), default=1)
    return rows * program.mesh.get("data", 1) * program.info["micro_batches"]


def _parts_of(source, weights):
    """The sources of a list, or the shards of a folder; None if it is one source."""
    if isinstance(source, (str, Path)) and Path(source).is_dir():
        path = Path(source)
        shards = sorted(each.parent for each in path.glob("*/tokens.json"))
        return shards if shards and not (path / "tokens.json").exists() else None
    is_list = isinstance(source, (list, tuple))
    if is_list and (weights or all(isinstance(each, (str, Path)) for each in source)):
        return list(source)
    return None


class Dataset:
    """Data of all inputs of a program, of which every step reads the next global batch.

    program: the zero.Program.
    source: by the name of the input an array, whose first dimension are samples, or the path of a
        file (`.npy`, `.npz`, or `.bin` with `dtype`); or the path of a .npz with a member NAME or
        input.NAME for each input; or the path of a folder that zero.tokenize() wrote, of which each
        input reads what its name says: ids, labels, mask or positions; or a tuple of arrays in the
        order of the inputs; or a list of paths, or of sources with weights; or the path of a folder
        of such folders, which are read one after the other. Row-major arrays and files are not
        copied or read in advance: they may be larger than memory, and must not be changed or cut
        while steps run.
    shuffle: a number; each epoch then has an order of its own that follows from it.
    dtype: of the elements of files without a header, such as "uint16".
    weights: of each source of a list: a mixture, in which each has its share of the samples. A
        source that is at its end begins again, so a mixture has no epochs.
    window: samples that are shuffled among each other, so that files larger than memory are read
        nearly in their order; all, if not given.
    pack: which documents of a folder share a row: "off", none; "documents", several whole ones that
        fill it; "stream", all of them, one after the other. The model has to know where they begin:
        compile() a folder of Hugging Face with documents=True.

    An input that has the rows of one rank, or one row, while others have more, is the same in
    every step.

    Attributes: samples; samples_per_step, the global batch; steps_per_epoch, 0 if the data is
    smaller than a global batch: its samples are then repeated within the batch.
    """

    def __init__(self, program, source, *, shuffle=None, dtype="uint16", pack="off", weights=None,
                 window=None, _evaluates=False):
        module = native.load()
        self._dtypes = module.dtypes
        self._data = module.Data(program._executable)
        if _evaluates:
            self._data.for_evaluations()
        self._data.pack(packing_number(pack))
        self._shapes = {value.name: value.shape for value in program.inputs}
        parts = _parts_of(source, weights)
        if parts is None:
            names = list(self._shapes)
            source = by_input(names, source)
            check_names(names, source)
            for name, value in source.items():
                self._bind(name, value, dtype)
        else:
            self._add(parts, weights, lambda part: Dataset(
                program, part, dtype=dtype, pack=pack, _evaluates=True))
        if window is not None and shuffle is None:
            raise InvalidArgumentError("window: expected shuffle, too")
        if shuffle is not None:
            self._data.shuffle_within(shuffle, window or 0)
        self.samples, self.samples_per_step, self.steps_per_epoch = self._data.describe()
        self.warn()

    def _add(self, parts, weights, made):
        if weights is not None and len(weights) != len(parts):
            raise InvalidArgumentError(f"weights: expected one for each of {len(parts)} sources, "
                                       f"got {len(weights)}")
        for part, weight in zip(parts, weights or [0] * len(parts)):
            if weights is not None and not weight > 0:
                raise InvalidArgumentError(f"weights: expected numbers above 0, got {weight}")
            try:
                self._data.add_part(made(part)._data, weight)
            except BadDataError as error:
                where = f"'{part}': " if isinstance(part, (str, Path)) else ""
                raise BadDataError(f"{where}{error}") from None

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
