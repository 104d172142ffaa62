"""zero.Columns reads each row of its files once, in windows; a training that continues reads what it
would have read; errors name the file.

usage: check_columns.py DATA WORK

Needs the package pyarrow.
"""

import json
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow
import zero
from pyarrow import feather, ipc, parquet
from zero_test import Checks, Graph

ROWS = 500


def write_files(work, rng):
    """Rows in a Parquet file of small groups, an Arrow file, and one for feather."""
    x = rng.random((ROWS, 784), np.float32)
    labels = rng.integers(0, 10, ROWS).astype(np.int32)
    lists = pyarrow.array(list(x), pyarrow.list_(pyarrow.float32()))
    fixed = pyarrow.FixedSizeListArray.from_arrays(x.reshape(-1), 784)
    folder = work / "rows"
    folder.mkdir(parents=True)

    def table(values, first, last):
        return pyarrow.table({"pixels": values.slice(first, last - first), "id": np.arange(first, last),
                              "labels": labels[first:last]})

    parquet.write_table(table(lists, 0, 210), folder / "a.parquet", row_group_size=60)
    with ipc.new_file(str(folder / "b.arrow"), table(fixed, 210, 400).schema) as file:
        file.write_table(table(fixed, 210, 400), max_chunksize=50)
    feather.write_feather(table(fixed, 400, ROWS), str(folder / "c.feather"), compression="uncompressed")
    return folder, {"x": x, "labels": labels}


def rows_of(batches, data):
    """The numbers of the rows of batches."""
    found = []
    for batch in batches:
        for x, label in zip(batch["x"], batch["labels"]):
            row, = np.flatnonzero((data["x"] == x).all(1))
            assert data["labels"][row] == label
            found.append(int(row))
    return found


def check_order(checks, program, folder, data):
    names = {"x": "pixels"}
    plain = zero.Columns(program, folder, columns=names, window=90)
    size = plain.samples_per_step
    checks.that(size == 64 and len(plain) == ROWS // 64 and plain.samples == ROWS, f"{size}")
    checks.that(rows_of(plain, data) == list(range(ROWS)), "not in the order of the files")
    shuffled = zero.Columns(program, folder, columns=names, shuffle=3, window=90)
    rows = rows_of(shuffled, data)
    for begin in range(0, ROWS, 90):
        window = rows[begin:begin + 90]
        checks.that(sorted(window) == list(range(begin, min(begin + 90, ROWS))) and
                    (len(window) < 3 or window != sorted(window)), f"window {begin}: {window}")
    batches = shuffled.batches_from(0)
    every = rows_of((next(batches) for _ in range(20)), data)
    checks.that(every[:448] == rows[:448] and every[448:896] != rows[:448], "epochs are alike")
    for done in (1, 6, 7, 13):
        batches = shuffled.batches_from(done)
        rest = rows_of((next(batches) for _ in range(20 - done)), data)
        checks.that(rest == every[done * size:], f"from batch {done}")


def check_training(checks, program, folder, data, work):
    """The losses of the arrays, also of a training that continues."""
    columns = zero.Columns(program, [folder / "a.parquet", folder / "b.arrow"], columns={"x": "pixels"})
    part = {name: array[:400] for name, array in data.items()}
    with program.session() as session:
        expected = session.train(part, epochs=2, progress=False).losses
    settings = {"checkpoint": work / "state", "log": work / "log.jsonl", "progress": False}
    for steps in (5, 12):
        with program.session() as session:
            session.train(columns, steps=steps, **settings)
            evaluated = session.evaluate(columns), session.evaluate(part)
    losses = [json.loads(line)["loss"] for line in (work / "log.jsonl").read_text().splitlines()]
    checks.that(losses == expected and len(losses) == 12, f"{losses}, {expected}")
    checks.that(np.isclose(*evaluated, rtol=1e-6), f"{evaluated}")


class Slow(zero.Columns):
    def _read(self, epoch, start):
        time.sleep(3 if start else 0)
        return super()._read(epoch, start)


def check_errors(checks, program, folder, work):
    ragged, text, cut = work / "ragged.parquet", work / "text.parquet", work / "cut.parquet"
    lists = [[0.0] * (784 - (row == 70)) for row in range(100)]
    parquet.write_table(pyarrow.table({"x": lists, "labels": [0] * 100}), ragged)
    parquet.write_table(pyarrow.table({"x": ["a"] * 100, "labels": [0] * 100}), text)
    shutil.copy(folder / "a.parquet", cut)
    os.truncate(cut, cut.stat().st_size // 2)
    empty = work / "empty"
    empty.mkdir()

    def read(path, kind=zero.Columns, **options):
        return lambda: list(kind(program, path, **options))

    for call, error_type, words in (
            (read(ragged), zero.BadDataError, [str(ragged), "column 'x'", "lists of one length"]),
            (read(text), zero.BadDataError, [str(text), "expected numbers or lists of numbers, got"]),
            (read(cut, columns={"x": "pixels"}), zero.BadFileError, [str(cut)]),
            (read(folder), zero.BadDataError, ["a.parquet", "expected a column 'x', got pixels, id"]),
            (read(empty), zero.BadDataError, ["expected files .parquet, .arrow, .feather in"]),
            (read(work / "none.parquet"), zero.IoError, ["none.parquet"]),
            (read(folder, Slow, columns={"x": "pixels"}, window=90, timeout=0.2), zero.IoError,
             ["a.parquet", "no rows for 0.2 s, in the window from row 90 on"])):
        try:
            call()
            checks.that(False, f"no error: {words}")
        except error_type as error:
            checks.that(all(word in str(error) for word in words), f"{error}, {words}")


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    program = zero.compile(graph.folder / "model.onnx", ranks=2, optimizer="adamw", lr=1e-3)
    folder, data = write_files(work, np.random.default_rng(4))
    check_order(checks, program, folder, data)
    check_training(checks, program, folder, data, work)
    check_errors(checks, program, folder, work)
    checks.finish()


if __name__ == "__main__":
    main()
