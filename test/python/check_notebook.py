"""Runs notebooks in Jupyter's kernel, and compares what they print with what the files have.

usage: check_notebook.py NOTEBOOK... [--write]

A notebook runs in its directory. Numbers may differ, because they depend on the processor. --write
stores what was printed and the values of cells in the file, but not pages and bars: those are shown
by a running notebook only.
"""

import argparse
import asyncio
import copy
import html
import re
from pathlib import Path

import nbformat

from zero_notebook import kernel_of
from zero_test import Checks


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


async def run_notebook(path):
    """The notebook with the outputs of all of its cells."""
    notebook = nbformat.read(path, as_version=4)
    async with kernel_of(notebook, path.parent) as client:
        for number, cell in enumerate(notebook.cells):
            await client.async_execute_cell(cell, number)
    return notebook


def stored(output):
    """The part of an output that a file has; None if it has nothing of it."""
    if output.output_type == "stream":
        return output if output.name == "stdout" else None
    if output.output_type != "execute_result":
        return None
    kept = copy.deepcopy(output)
    kept.data = {"text/plain": output.data["text/plain"]}
    return kept


def write(path, ran):
    """Replaces the outputs of a file."""
    notebook = nbformat.read(path, as_version=4)
    for cell, done in zip(code_cells(notebook), code_cells(ran)):
        cell.execution_count = done.execution_count
        cell.outputs = [kept for kept in map(stored, done.outputs) if kept is not None]
    nbformat.write(notebook, path)


def texts(cell):
    """What a cell printed and its value, without numbers, units of bytes and the node at the peak,
    which depend on the processor."""
    def constant(text):
        text = re.sub(r"\d[\d.]*", "N", re.sub(r"at '[^']*'", "at a node", text))
        return re.sub(r" +N (bytes|KiB|MiB)", " N bytes", text)

    return [constant(output.get("text") or output.data["text/plain"])
            for output in map(stored, cell.outputs) if output is not None]


def check(checks, path, ran):
    """Compares the outputs of a run with those of the file."""
    file = nbformat.read(path, as_version=4)
    nbformat.validate(file)
    wanted = list(map(texts, code_cells(file)))
    checks.that(any(wanted), f"{path.name} has no outputs: run with --write")
    for number, (cell, want) in enumerate(zip(code_cells(ran), wanted), 1):
        got = texts(cell)
        checks.that(got == want, f"{path.name}, code cell {number}: {got}, not {want}")


def check_report(checks, path, ran):
    """A cell whose value is a report shows the whole page in a frame."""
    for cell in code_cells(ran):
        for output in cell.outputs:
            size = re.match(r"Report\((\d+) ", output.get("data", {}).get("text/plain", ""))
            if size:
                frame = re.match('<iframe srcdoc="([^"]*)"', output.data.get("text/html", ""))
                page = html.unescape(frame[1]) if frame else ""
                checks.that(page.startswith("<!doctype html>") and len(page) == int(size[1]),
                            f"{path.name} does not show its report: {page[:200]!r}")
                return
    checks.that(False, f"{path.name} has no report")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    checks = Checks()
    for path in (path.resolve() for path in options.notebooks):
        ran = asyncio.run(run_notebook(path))
        if options.write:
            write(path, ran)
        check(checks, path, ran)
        check_report(checks, path, ran)
    checks.finish()


if __name__ == "__main__":
    main()
