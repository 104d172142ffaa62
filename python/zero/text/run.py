"""Tokenizes a corpus by several processes."""

import collections
import concurrent.futures
import dataclasses
import datetime
import json
import multiprocessing
import os
import signal
import threading
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np

from ..errors import BadDataError, InvalidArgumentError, ZeroError
from ..progress import Line
from . import corpus as files
from .choices import LABELS, OVERLONG, SAMPLE_BY, TRAINED
from .folder import Folder, open_folder, sha256
from .samples import Options, Tokenizing
from .writer import TokenWriter, stored_arguments

@dataclasses.dataclass
class Documents:
    """The documents of a chunk: ids and mask of all, one after the other, and their lengths."""

    ids: bytes
    mask: bytes
    lengths: np.ndarray
    trained: int
    largest: int
    counts: dict


def _tokenize_chunk(tokenizing, id_type, chunk):
    before = dict(tokenizing.counts)
    pieces = []
    for place, sample in files.samples(chunk):
        try:
            pieces += tokenizing.documents(sample)
        except BadDataError as error:
            raise BadDataError(f"{place()}: {error}") from None
    empty = np.zeros(0, np.int64)
    ids = np.concatenate([empty, *(piece[0] for piece in pieces)])
    mask = np.concatenate([empty, *(piece[1] for piece in pieces)]).astype(np.uint8)
    return Documents(ids.astype(id_type).tobytes(), mask.tobytes(),
                     np.array([len(piece[0]) for piece in pieces], np.uint64),
                     int(mask.sum()), int(ids.max(initial=0)),
                     {name: count - before[name] for name, count in tokenizing.counts.items()})


#===-----------------------------------------------------------------------===#
# Processes
#===-----------------------------------------------------------------------===#

_worker = None  # of this process: Tokenizing, and the type of ids


def _end_with_parent():
    wait([multiprocessing.parent_process().sentinel])
    os._exit(1)


def _begin_worker(folder, options, id_type):
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent records and ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = Tokenizing(folder, options), id_type


def _work(chunk):
    return _tokenize_chunk(*_worker, chunk)


def _in_order(chunks, processes, folder, options, id_type):
    """The documents of each chunk, in order; a few chunks are in work at once."""
    if processes == 1:
        tokenizing = Tokenizing(folder, options)
        for chunk in chunks:
            yield chunk, _tokenize_chunk(tokenizing, id_type, chunk)
        return
    # Threads of the caller, such as PyTorch's, must not be copied: no fork.
    pool = concurrent.futures.ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), _begin_worker,
        (folder, options, id_type))
    waiting = collections.deque()
    try:
        for chunk in chunks:
            waiting.append((chunk, pool.submit(_work, chunk)))
            if len(waiting) > 2 * processes:
                chunk, future = waiting.popleft()
                yield chunk, future.result()
        while waiting:
            chunk, future = waiting.popleft()
            yield chunk, future.result()
    except BrokenProcessPool:
        raise ZeroError("a process that tokenizes was ended, perhaps for want of memory: the same "
                        "command continues, with --processes for fewer of them") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


#===-----------------------------------------------------------------------===#
# The whole
#===-----------------------------------------------------------------------===#

def _one_of(name, value, choices):
    if value not in choices:
        raise InvalidArgumentError(f"{name}: expected one of {', '.join(choices)}, got '{value}'")


def _date(folder, date, output):
    """The date for templates that write one: the given one, that of a run that is continued, or
    today. None if no template asks."""
    if not any("strftime_now" in text for text in folder.templates.values()):
        return None
    if date is None:
        date = (stored_arguments(output) or {}).get("date") or datetime.date.today().isoformat()
    try:
        return datetime.date.fromisoformat(date).isoformat()
    except ValueError:
        raise InvalidArgumentError(f"date: expected one such as 2026-01-31, got '{date}'") from None


def _described(path):
    status = Path(path).stat()
    return {"path": str(path), "bytes": status.st_size, "modified": status.st_mtime_ns}


def tokenize(folder, corpus, output, *, train_on="completions", max_length=None,
             overlong="truncate", labels="same", append_eos=True, sample_by="line",
             chat_template=None, date=None, processes=None, overwrite=False, progress=False):
    """Writes the tokens of a corpus as documents that a run reads in place, and returns the
    manifest of the folder. A call that was killed continues when it is repeated.

    folder: a Hugging Face folder, of which tokenizer.json and the chat template are used.
    corpus: a file .jsonl, .json, .txt or .parquet, or a list of them.
    output: the folder to write.
    train_on: which tokens the loss counts: "completions", what the assistant writes; "last", its
        last message; or "all".
    max_length: of a document in tokens; overlong: "truncate" longer ones, "drop" or "split" them.
    labels: "same" for a model that shifts its labels itself, as those of Hugging Face, or
        "shifted".
    append_eos: whether texts and completions end with the EOS token. Chat templates write their
        own.
    sample_by: what is a sample of a .txt: a "line", a "paragraph" or the "document".
    chat_template: a file in place of the folder's template.
    date: for templates that write today's, as "2026-01-31".
    processes: all cores if None. The bytes do not depend on it. With several, a script needs `if
        __name__ == "__main__":` around the call, as always with processes in Python.
    overwrite: replace tokens of other arguments.
    """
    _one_of("train_on", train_on, TRAINED)
    _one_of("overlong", overlong, OVERLONG)
    _one_of("labels", labels, LABELS)
    _one_of("sample_by", sample_by, SAMPLE_BY)
    if max_length is not None and max_length < 2:
        raise InvalidArgumentError(f"max_length: expected at least 2, got {max_length}")
    paths = [str(path) for path in ([corpus] if isinstance(corpus, (str, Path)) else corpus)]
    size = files.check_files(paths)
    opened = open_folder(folder, chat_template)
    date = _date(opened, date, output)
    if append_eos and opened.ids["eos"] is None:
        raise InvalidArgumentError(f"'{folder}' names no EOS token to append: add eos_token to its "
                                   f"tokenizer_config.json, or use --no-eos")
    arguments = {"corpus": [_described(path) for path in paths],
                 "tokenizer_sha256": sha256(opened.tokenizer),
                 "chat_template_sha256": sha256(json.dumps(opened.templates, sort_keys=True)),
                 "special_tokens": opened.ids, "add_bos": opened.adds_bos, "train_on": train_on,
                 "max_length": max_length, "overlong": overlong, "labels": labels,
                 "append_eos": append_eos, "sample_by": sample_by, "date": date}
    options = Options(train_on, max_length, overlong, append_eos, date or "2000-01-01")
    job = _Job(opened, options, paths, sample_by, size, progress)
    return job.run(output, arguments, overwrite, processes)


@dataclasses.dataclass
class _Job:
    """Attributes: folder; options; paths, sample_by and size of the corpus; progress, whether a
    line shows it."""

    folder: Folder
    options: Options
    paths: list
    sample_by: str
    size: int
    progress: bool

    def run(self, output, arguments, overwrite, processes):
        pad = next((id for id in (self.folder.ids["pad"], self.folder.ids["eos"])
                    if id is not None), 0)
        id_type = "<u2" if max(self.folder.vocabulary, pad + 1) <= 1 << 16 else "<u4"
        writer = TokenWriter(output, arguments, id_type, overwrite)
        if writer.manifest is None:
            self._write(writer, id_type, self._processes(processes))
            if not writer.documents:
                writer.close()
                raise BadDataError(f"no sample of {', '.join(self.paths)} has tokens to train: "
                                   f"{_counted(writer.counts)}")
            writer.finish({"vocabulary": self.folder.vocabulary, "pad_id": pad,
                           "eos_id": self.folder.ids["eos"], "labels": arguments["labels"]})
        return writer.manifest

    def _processes(self, asked):
        if asked is not None and asked < 1:
            raise InvalidArgumentError(f"processes: expected at least 1, got {asked}")
        most = -(-self.size // files.CHUNK)
        return max(1, min(asked or len(os.sched_getaffinity(0)), most))

    def _write(self, writer, id_type, processes):
        line = Line(-(-self.size >> 20) or 1, unit="MiB") if self.progress else None
        done = 0

        def remaining(first):
            nonlocal done
            for index, chunk in enumerate(files.chunks(self.paths, self.sample_by)):
                if index >= first:
                    yield chunk
                else:
                    done += chunk.size
        try:
            for chunk, documents in _in_order(remaining(writer.chunks), processes, self.folder,
                                              self.options, id_type):
                writer.add(documents)
                done += chunk.size
                if line:
                    line.update(f"{writer.tokens:,} tokens", min(done >> 20, line.total))
            if line:
                line.done = line.total
                line.close()
        except BaseException:
            writer.record()
            writer.close()
            raise


def _counted(counts):
    return (f"{counts['samples']} samples, {counts['empty']} of them empty, "
            f"{counts['untrained']} without tokens for the loss, {counts['overlong']} overlong")
