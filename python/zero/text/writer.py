"""The files of a folder of tokens (docs/reference/tokens.md), written chunk by chunk so that a
killed run continues where it was."""

import fcntl
import json
import os
import time
from pathlib import Path

import numpy as np

from ..errors import BadFileError, InvalidArgumentError, IoError, ZeroError
from .samples import no_counts

FORMAT, VERSION = "zero-tokens", 1
_FILES = ("ids", "starts", "mask")
_MANIFEST, _STATE = "tokens.json", "unfinished.json"
_SECONDS = 1.0  # between two records of the state


def _read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise BadFileError(f"'{path}' is damaged: {error}; use --overwrite") from None


def replace_json(path, value):
    """Writes JSON such that a kill leaves the old file or the new one."""
    temporary = path.with_suffix(".temporary")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _shown(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def stored_arguments(output):
    """The arguments that a folder was written with, also if it is not complete, or None."""
    for name in (_MANIFEST, _STATE):
        if (found := _read_json(Path(output) / name)) is not None:
            return found.get("arguments")
    return None


class TokenWriter:
    """Writes a folder. Attributes: chunks, how many are in it already; manifest, once it is
    complete, otherwise None."""

    def __init__(self, output, arguments, id_type, overwrite=False):
        self.chunks, self.manifest = 0, None
        self._folder, self._arguments = Path(output), arguments
        self._id_type = np.dtype(id_type)
        self._counts = no_counts()
        self._totals = dict.fromkeys(("documents", "tokens", "trained_tokens", "longest",
                                      "largest_id"), 0)
        self._files, self._recorded = {}, time.monotonic()
        self._open(overwrite)

    def _open(self, overwrite):
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock()
            if overwrite:
                for name in (_MANIFEST, _STATE):
                    (self._folder / name).unlink(missing_ok=True)
            manifest = _read_json(self._folder / _MANIFEST)
            state = _read_json(self._folder / _STATE)
            if manifest or state and state["chunks"]:
                self._check(manifest or state)
            else:
                state = None
            if manifest:
                self.manifest = manifest
                return self.close()
            self._continue(state or {"sizes": dict.fromkeys(_FILES, 0)})
        except OSError as error:
            raise IoError(f"cannot write '{self._folder}': {error}") from None
        except ZeroError:
            self.close()  # else the error, while it is known, would keep the lock
            raise

    def _lock(self):
        for name in _FILES:
            path = self._folder / f"{name}.bin"
            self._files[name] = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b")
        try:
            fcntl.flock(self._files["ids"], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidArgumentError(f"another process writes '{self._folder}'") from None

    def _check(self, found):
        was, now = found.get("arguments", {}), self._arguments
        for name in {**now, **was}:
            if was.get(name) != now.get(name):
                raise InvalidArgumentError(
                    f"'{self._folder}' has tokens of other arguments: {name} was "
                    f"{_shown(was.get(name))}, and is {_shown(now.get(name))}; write to another "
                    f"folder, or add --overwrite")

    def _continue(self, state):
        for name, size in state["sizes"].items():
            if os.fstat(self._files[name].fileno()).st_size < size:
                raise BadFileError(f"'{self._folder / name}.bin' is shorter than "
                                   f"'{self._folder / _STATE}' says; use --overwrite")
            self._files[name].truncate(size)
            self._files[name].seek(size)
        self.chunks = state.get("chunks", 0)
        self._counts.update(state.get("counts", {}))
        self._totals.update(state.get("totals", {}))
        if not state["sizes"]["starts"]:
            self._files["starts"].write(np.zeros(1, "<u8").tobytes())

    def add(self, documents):
        """Appends the documents of the next chunk."""
        ends = self._totals["tokens"] + np.cumsum(documents.lengths, dtype=np.uint64)
        self._files["ids"].write(documents.ids)
        self._files["mask"].write(documents.mask)
        self._files["starts"].write(ends.astype("<u8").tobytes())
        totals, lengths = self._totals, documents.lengths
        totals["documents"] += len(lengths)
        totals["tokens"] += int(lengths.sum())
        totals["trained_tokens"] += documents.trained
        totals["longest"] = max(totals["longest"], int(lengths.max(initial=0)))
        totals["largest_id"] = max(totals["largest_id"], documents.largest)
        for name, count in documents.counts.items():
            self._counts[name] += count
        self.chunks += 1
        if time.monotonic() - self._recorded >= _SECONDS:
            self.record()

    def record(self):
        """Makes what is written so far survive a kill."""
        sizes = {}
        for name, file in self._files.items():
            file.flush()
            os.fsync(file.fileno())
            sizes[name] = file.tell()
        replace_json(self._folder / _STATE, {"arguments": self._arguments, "chunks": self.chunks,
                                         "sizes": sizes, "counts": self._counts,
                                         "totals": self._totals})
        self._recorded = time.monotonic()

    @property
    def documents(self):
        return self._totals["documents"]

    @property
    def tokens(self):
        return self._totals["tokens"]

    @property
    def counts(self):
        return self._counts

    def finish(self, properties):
        """Completes the folder; `properties` are further entries of the manifest."""
        self.record()
        self.manifest = {"format": FORMAT, "version": VERSION, "id_type": self._id_type.name,
                         **self._totals, **properties, "counts": self._counts,
                         "arguments": self._arguments}
        replace_json(self._folder / _MANIFEST, self.manifest)
        (self._folder / _STATE).unlink()
        self.close()

    def close(self):
        for file in self._files.values():
            file.close()
