"""Batches of columns of Parquet and Arrow files, which may be larger than memory."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from threading import Thread

import numpy as np

from .dataset import samples_per_step
from .errors import BadDataError, BadFileError, InvalidArgumentError, IoError, UnsupportedError

SUFFIXES = (".parquet", ".arrow", ".feather")


def _pyarrow():
    try:
        import pyarrow
    except ImportError as error:
        raise UnsupportedError(f"zero.Columns needs the package pyarrow: {error}; install it with "
                               f"pip install pyarrow") from None
    return pyarrow


@dataclass(frozen=True)
class _Block:
    """A row group of a Parquet file, or a record batch of an Arrow file."""
    path: Path
    index: int
    rows: int


class _File:
    """An open file of blocks. Its errors name it."""

    def __init__(self, path):
        self.path = path
        self._parquet = path.suffix == ".parquet"
        self._file = self._checked(self._open, "")

    def _open(self):
        pyarrow = _pyarrow()
        if self._parquet:
            from pyarrow import parquet
            return parquet.ParquetFile(self.path, memory_map=True)
        from pyarrow import ipc
        return ipc.open_file(pyarrow.memory_map(str(self.path)))

    def _checked(self, read, where):
        pyarrow = _pyarrow()
        try:
            return read()
        except pyarrow.ArrowInvalid as error:
            raise BadFileError(f"'{self.path}'{where}: {error}") from None
        except (pyarrow.ArrowException, OSError) as error:
            raise IoError(f"'{self.path}'{where}: {error}") from None

    def blocks(self):
        if self._parquet:
            about = self._file.metadata
            rows = [about.row_group(index).num_rows for index in range(about.num_row_groups)]
        else:
            rows = [self._file.get_batch(index).num_rows
                    for index in range(self._file.num_record_batches)]
        return [_Block(self.path, index, count) for index, count in enumerate(rows)]

    def names(self):
        return (self._file.schema_arrow if self._parquet else self._file.schema).names

    def read(self, index, columns):
        """The columns of a block as arrays."""
        def read():
            if self._parquet:
                return self._file.read_row_group(index, columns=columns)
            return _pyarrow().Table.from_batches([self._file.get_batch(index)]).select(columns)
        where = f", block {index}"
        table = self._checked(read, where)
        return {name: self._array(table.column(name), f"{where}, column '{name}'")
                for name in columns}

    def _array(self, column, where):
        """One row for each row: of numbers, or of lists of equally many."""
        rows, inner = len(column), column.combine_chunks()
        shape = [rows]
        while hasattr(inner.type, "value_type"):
            values = inner.flatten()
            width, rest = divmod(len(values), len(inner)) if len(inner) else (0, 0)
            lengths = inner.value_lengths() if hasattr(inner, "value_lengths") else None
            if rest or inner.null_count or (lengths is not None and len(lengths.unique()) > 1):
                raise BadDataError(f"'{self.path}'{where}: expected lists of one length without "
                                   f"nulls, got others: pad or cut them")
            shape.append(width)
            inner = values
        if inner.null_count:
            raise BadDataError(f"'{self.path}'{where}: expected no nulls, got {inner.null_count}")
        values = inner.to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "biuf":
            raise BadDataError(f"'{self.path}'{where}: expected numbers or lists of numbers, got "
                               f"{column.type}")
        return values.reshape(shape)


def _files_of(paths):
    paths = [paths] if isinstance(paths, (str, Path)) else list(paths)
    files = []
    for path in map(Path, paths):
        files += sorted(each for each in path.iterdir() if each.suffix in SUFFIXES) if (
            path.is_dir()) else [path]
    if not files:
        raise BadDataError(f"expected files {', '.join(SUFFIXES)} in {', '.join(map(str, paths))}, "
                           f"got none")
    for path in files:
        if path.suffix not in SUFFIXES:
            raise BadDataError(f"expected a file {', '.join(SUFFIXES)}, got '{path}'")
    return files


class _Ahead:
    """A call on a thread of its own, which does not keep the process alive."""

    def __init__(self, function, *arguments):
        self._result = self._error = None
        self._thread = Thread(target=self._run, args=(function, *arguments), daemon=True)
        self._thread.start()

    def _run(self, function, *arguments):
        try:
            self._result = function(*arguments)
        except BaseException as error:
            self._error = error

    def is_done(self, seconds):
        """Waits for the call, so long."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self):
        if self._error is not None:
            raise self._error
        return self._result


class Columns:
    """The global batches of a program from columns of Parquet (.parquet) or Arrow IPC files
    (.arrow, .feather), of which it has two windows and a row group in memory.

    program: the zero.Program.
    paths: a file, a folder of files, or a list of them, which are read one after the other. A row
        is a sample: a number, or a list of numbers that has the same length in all rows.
    columns: the column of each input; those of the inputs' names, if not given.
    shuffle: a number from which the order of the rows in each window follows, in each epoch
        another.
    window: rows that are shuffled among each other, and read ahead.
    timeout: seconds after which a file that gives no rows is an error.

    Use it as the dataset of train() and evaluate(). A training that continues begins to read at its
    position. Rows at the end that fill no batch are left out, of train().
    """

    def __init__(self, program, paths, *, columns=None, shuffle=None, window=10_000, timeout=600):
        if window < 1:
            raise InvalidArgumentError(f"window: expected at least 1, got {window}")
        self._files = {path: _File(path) for path in _files_of(paths)}
        names = [value.name for value in program.inputs]
        self._columns = {name: (columns or {}).get(name, name) for name in names}
        for file in self._files.values():
            for column in self._columns.values():
                if column not in file.names():
                    raise BadDataError(f"'{file.path}': expected a column '{column}', got "
                                       f"{', '.join(file.names())}; give columns={{input: column}}")
        self._blocks = [block for file in self._files.values() for block in file.blocks()]
        self._ends = list(accumulate(block.rows for block in self._blocks))
        self.samples = self._ends[-1] if self._ends else 0
        self.samples_per_step = samples_per_step(program)
        if self.samples < self.samples_per_step:
            raise BadDataError(f"expected at least the {self.samples_per_step} rows of a global "
                               f"batch, got {self.samples}")
        self._shuffle, self._window, self._timeout = shuffle, window, timeout
        self._last = None

    def __len__(self):
        """Batches of an epoch."""
        return self.samples // self.samples_per_step

    def __iter__(self):
        """All rows in the order of the first epoch, also those of an incomplete last batch."""
        yield from self._rows(0, 0, self.samples)

    def batches_from(self, done):
        """The batches of all epochs, without end, after so many."""
        epoch, first = divmod(done, len(self))
        while True:
            size = self.samples_per_step
            yield from self._rows(epoch, first * size, len(self) * size)
            epoch, first = epoch + 1, 0

    def _rows(self, epoch, begin, end):
        """Batches of the rows from `begin` up to `end` of an epoch. The next window is read while
        one is used."""
        starts = range(begin // self._window * self._window, end, self._window)
        parts, size = [], self.samples_per_step
        ahead = _Ahead(self._read, epoch, starts[0])
        for start in starts:
            window = self._wait(ahead, start)
            if start + self._window < end:
                ahead = _Ahead(self._read, epoch, start + self._window)
            parts.append({name: array[max(begin - start, 0):end - start]
                          for name, array in window.items()})
            rows = {name: np.concatenate([part[name] for part in parts]) for name in window}
            count = len(next(iter(rows.values())))
            whole = count // size * size
            for at in range(0, whole, size):
                yield {name: array[at:at + size] for name, array in rows.items()}
            parts = [{name: array[whole:] for name, array in rows.items()}]
        if count > whole:
            yield parts[0]

    def _wait(self, ahead, start):
        if not ahead.is_done(self._timeout):
            block = self._blocks[bisect_right(self._ends, start)]
            raise IoError(f"'{block.path}': no rows for {self._timeout:g} s, in the window "
                          f"from row {start} on")
        return ahead.result()

    def _block(self, block):
        """The arrays of a block; the last one is kept, because the next window begins in it."""
        if self._last is None or self._last[0] != block:
            columns = sorted(set(self._columns.values()))
            self._last = block, self._files[block.path].read(block.index, columns)
        return self._last[1]

    def _read(self, epoch, start):
        """The rows of a window, in the order of the epoch."""
        end = min(start + self._window, self.samples)
        parts = []
        first = bisect_right(self._ends, start)
        for block, last in zip(self._blocks[first:], self._ends[first:]):
            begin = last - block.rows
            if begin >= end:
                break
            arrays = self._block(block)
            parts.append({name: array[max(start - begin, 0):end - begin]
                          for name, array in arrays.items()})
        rows = {name: np.concatenate([part[column] for part in parts])
                for name, column in self._columns.items()}
        if self._shuffle is None:
            return rows
        order = np.random.default_rng((self._shuffle, epoch, start)).permutation(end - start)
        return {name: array[order] for name, array in rows.items()}
