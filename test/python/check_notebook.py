"""Runs the code cells of notebooks, and compares what they print with what the files have.

usage: check_notebook.py NOTEBOOK... [--write]

The cells of a notebook run in order in its directory. Numbers may differ, because they depend on
the processor. --write stores what was printed, and the value of the last line, in the file.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import re
from pathlib import Path

from zero_test import Checks


def run_cell(code, names, place):
    """Runs one cell; returns its outputs as a notebook stores them."""
    body = ast.parse(code, place).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), place, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream",
                        "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        outputs.append({"output_type": "execute_result", "metadata": {},
                        "data": {"text/plain": repr(value).splitlines(keepends=True)}})
    return outputs


def run_notebook(path):
    """The notebook with the outputs of all of its cells."""
    notebook = json.loads(path.read_text())
    os.chdir(path.parent)
    names, count = {"__name__": "__main__"}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = run_cell("".join(cell["source"]), names, f"{path}, code cell {count}")
            for output in outputs:
                if output["output_type"] == "execute_result":
                    output["execution_count"] = count
            cell.update(execution_count=count, outputs=outputs)
    return notebook


def texts(notebook):
    """For each code cell, what it printed and its value; numbers are left out."""
    return [["N".join(re.split(r"\d[\d.]*", "".join(output.get("text") or
                                                    output["data"]["text/plain"])))
             for output in cell["outputs"]]
            for cell in notebook["cells"] if cell["cell_type"] == "code"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    checks = Checks()
    for path in (path.resolve() for path in options.notebooks):
        ran = run_notebook(path)
        if options.write:
            path.write_text(json.dumps(ran, indent=1, ensure_ascii=False) + "\n")
        stored = texts(json.loads(path.read_text()))
        checks.that(any(stored), f"{path.name} has no outputs: run with --write")
        for number, (got, wanted) in enumerate(zip(texts(ran), stored), 1):
            checks.that(got == wanted, f"{path.name}, code cell {number}: {got}, not {wanted}")
    checks.finish()


if __name__ == "__main__":
    main()
