"""Files of samples, read in chunks that are independent of how many processes read them."""

import dataclasses
import json
import re
from pathlib import Path

from ..errors import BadDataError, NotFoundError, ZeroError
from .folder import require

CHUNK = 1 << 20  # bytes
_SEPARATORS = {"line": re.compile(rb"\n"), "paragraph": re.compile(rb"\n\r?\n")}
_MARK = b"\xef\xbb\xbf"  # some files of UTF-8 begin with it
_SUFFIXES = ".jsonl, .json, .txt or .parquet"


@dataclasses.dataclass
class Chunk:
    """A part of a file. Attributes: kind, "json" for objects in lines, "text", "items" of a list,
    or "rows" of a table; begin and end, bytes of lines and texts, rows of tables, or items;
    separator, a key of _SEPARATORS; items, the texts of list items; size, in bytes, for the
    progress."""

    path: str
    kind: str
    begin: int
    end: int
    size: int
    separator: str = "line"
    items: tuple = ()


def _first_character(path):
    with open(path, "rb") as file:
        return file.read(4096).removeprefix(_MARK).lstrip()[:1]


def _kind(path):
    suffix = Path(path).suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return "json"
    if suffix == ".json":
        return "items" if _first_character(path) == b"[" else "json"
    if suffix == ".txt":
        return "text"
    if suffix == ".parquet":
        return "rows"
    raise BadDataError(f"'{path}': expected a file {_SUFFIXES}")


def check_files(paths):
    """Raises an error for files that cannot be read; returns the bytes of all."""
    for path in paths:
        if not Path(path).is_file():
            raise NotFoundError(f"'{path}' is no file: expected {_SUFFIXES}")
        if _kind(path) == "rows":
            _parquet(path)
    return sum(Path(path).stat().st_size for path in paths)


def chunks(paths, sample_by):
    """The chunks of all files, in order."""
    for path in paths:
        kind, size = _kind(path), Path(path).stat().st_size
        if kind == "items":
            yield from _item_chunks(path)
        elif kind == "rows":
            yield from _row_chunks(path)
        elif kind == "text" and sample_by == "document":
            yield Chunk(path, kind, 0, size, size, "document")
        else:
            separator = sample_by if kind == "text" else "line"
            for begin in range(0, size, CHUNK):
                end = min(begin + CHUNK, size)
                yield Chunk(path, kind, begin, end, end - begin, separator)


def samples(chunk):
    """The samples of a chunk, each with a function that returns its place for errors."""
    read = {"json": _lines, "text": _texts, "items": _items, "rows": _rows}[chunk.kind]
    return read(chunk)


#===-----------------------------------------------------------------------===#
# Lines and texts
#===-----------------------------------------------------------------------===#

def _boundary(file, near, size, separator):
    """Where the first part begins after the byte `near`: behind a separator."""
    if near == 0 or near >= size:
        return min(near, size)
    file.seek(near)
    tail = b""
    while more := file.read(CHUNK):
        block = tail + more
        if found := separator.search(block):
            return near - len(tail) + found.end()
        near += len(more)
        tail = block[-2:]  # a separator has up to three bytes
    return size


def _parts(chunk):
    """The parts that begin in a chunk, with the offset of each in the file."""
    with open(chunk.path, "rb") as file:
        size = file.seek(0, 2)
        if chunk.separator == "document":
            file.seek(0)
            yield 0, file.read().removeprefix(_MARK)
            return
        separator = _SEPARATORS[chunk.separator]
        begin = _boundary(file, chunk.begin, size, separator)
        end = _boundary(file, chunk.end, size, separator)
        file.seek(begin)
        block = file.read(max(end - begin, 0))
    if begin == 0 and block.startswith(_MARK):
        begin, block = len(_MARK), block[len(_MARK):]
    at = 0
    for found in separator.finditer(block):
        yield begin + at, block[at:found.start()]
        at = found.end()
    yield begin + at, block[at:]


def _line_of(path, offset):
    """The number of the line at an offset."""
    line = 1
    with open(path, "rb") as file:
        while offset > 0 and (block := file.read(min(offset, CHUNK))):
            line += block.count(b"\n")
            offset -= len(block)
    return f"'{path}', line {line}"


def _decoded(chunk, offset, part):
    try:
        return part.decode()
    except UnicodeDecodeError as error:
        raise BadDataError(f"{_line_of(chunk.path, offset + error.start)}: expected text in UTF-8, "
                           f"got the byte {part[error.start]:#04x}") from None


def _loaded(text, place):
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadDataError(f"{place()}: expected JSON: {error}") from None


def _lines(chunk):
    for offset, part in _parts(chunk):
        if not part.strip():
            continue
        def place(offset=offset):
            return _line_of(chunk.path, offset)
        yield place, _loaded(_decoded(chunk, offset, part), place)


def _texts(chunk):
    for offset, part in _parts(chunk):
        text = _decoded(chunk, offset, part)
        if chunk.separator != "document":
            text = text.strip("\r\n")
        if text.strip() or chunk.separator == "document":
            yield (lambda offset=offset: _line_of(chunk.path, offset)), {"text": text}


#===-----------------------------------------------------------------------===#
# Lists
#===-----------------------------------------------------------------------===#

class _ListReader:
    """The texts of the items of a list, of which only the current one is in memory."""

    def __init__(self, path):
        self._path = path
        self._file = open(path, encoding="utf-8-sig")
        self._text, self._at = "", 0
        self._ended = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def _more(self):
        """Reads as much again as is there, so that long items cost linear time."""
        rest = self._text[self._at:]
        try:
            read = self._file.read(max(CHUNK, len(rest)))
        except UnicodeDecodeError as error:
            raise BadDataError(f"'{self._path}': expected text in UTF-8: {error}") from None
        self._text, self._at = rest + read, 0
        self._ended = not read
        return bool(read)

    def _next(self, what, number):
        """The next character that is no space."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < len(self._text):
                self._at += 1
                return self._text[self._at - 1]
            if not self._more():
                raise BadDataError(f"'{self._path}', item {number}: expected {what}, got the end "
                                   f"of the file")

    def _item(self, number):
        decoder = json.JSONDecoder()
        while True:
            try:
                _, end = decoder.raw_decode(self._text, self._at)
                # A number may go on.
                if end < len(self._text) or self._ended or not self._more():
                    item, self._at = self._text[self._at:end], end
                    return item
            except RecursionError as error:
                raise BadDataError(f"'{self._path}', item {number}: {error}") from None
            except json.JSONDecodeError as error:
                cut = error.msg.startswith(("Unterminated", "Invalid \\")) or (
                    error.pos >= len(self._text) - 16)
                if not cut or not self._more():
                    raise BadDataError(f"'{self._path}', item {number}: expected JSON: "
                                       f"{error.msg}") from None

    def items(self):
        self._next("'['", 1)
        number = 1
        if (character := self._next("an item or ']'", number)) == "]":
            return
        self._at -= 1
        while True:
            self._next("an item", number)
            self._at -= 1
            yield self._item(number)
            number += 1
            character = self._next("',' or ']'", number)
            if character == "]":
                return
            if character != ",":
                raise BadDataError(f"'{self._path}', item {number}: expected ',' or ']', got "
                                   f"{character!r}")


def _item_chunks(path):
    held, size, number = [], 0, 0
    with _ListReader(path) as reader:
        for item in reader.items():
            held.append(item)
            size += len(item)
            if size >= CHUNK:
                yield Chunk(path, "items", number, number + len(held), size, items=tuple(held))
                number, held, size = number + len(held), [], 0
    if held:
        yield Chunk(path, "items", number, number + len(held), size, items=tuple(held))


def _items(chunk):
    for number, item in enumerate(chunk.items, chunk.begin + 1):
        def place(number=number):
            return f"'{chunk.path}', item {number}"
        yield place, _loaded(item, place)


#===-----------------------------------------------------------------------===#
# Tables
#===-----------------------------------------------------------------------===#

def _parquet(path):
    try:
        require("pyarrow")
    except ZeroError:
        raise ZeroError(f"'{path}': reading .parquet needs the Python package 'pyarrow': "
                        f"pip install pyarrow") from None
    from pyarrow.parquet import ParquetFile
    try:
        return ParquetFile(path)
    except Exception as error:  # of pyarrow
        raise BadDataError(f"'{path}': {error}") from None


def _row_chunks(path):
    with _parquet(path) as table:
        begin = 0
        for index in range(table.num_row_groups):
            group = table.metadata.row_group(index)
            yield Chunk(path, "rows", begin, index, group.total_byte_size)
            begin += group.num_rows


def _rows(chunk):
    with _parquet(chunk.path) as table:
        number = chunk.begin
        for batch in table.iter_batches(batch_size=256, row_groups=[chunk.end]):
            for row in batch.to_pylist():
                number += 1
                yield (lambda number=number: f"'{chunk.path}', row {number}"), {
                    key: value for key, value in row.items() if value is not None}
