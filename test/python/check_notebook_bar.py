"""train() in Jupyter's kernel: its bar, its line where packages are absent, and interrupts.

usage: check_notebook_bar.py MODEL-FOLDER
"""

import asyncio
import re
import sys
from pathlib import Path

from nbformat import v4

from zero_notebook import kernel_of, text_of
from zero_test import Checks

STEPS = 12
BEGIN = """
import sys
import time
from unittest import mock
import numpy as np
import zero

truth = np.load("groundtruth.npz")
batch = {name: truth[f"input.{name}"] for name in ("x", "labels")}
session = zero.compile("model.onnx", optimizer="adamw", lr=1e-3).session()

def train(steps=%d):
    # Slower than bars are drawn.
    history = session.train(batch, steps=steps, callbacks=[lambda *_: time.sleep(0.03)])
    print(f"loss={history.losses[-1]:.4f}")
""" % STEPS
ABSENT = """
with mock.patch.dict(sys.modules, {"%s": None}):
    train()
"""
# Longer than the time that a cell has.
INTERRUPTED = """
before = session.steps
try:
    train(10**6)
except KeyboardInterrupt as interrupt:
    history = interrupt.history
print(0 < len(history) < 10**6, session.steps - before - len(history))
"""


async def run(client, source):
    """Runs a new cell; returns it. An error in it is one here."""
    client.nb.cells.append(v4.new_code_cell(source))
    return await client.async_execute_cell(client.nb.cells[-1], len(client.nb.cells) - 1)


def states_of(client, kind):
    """The states of the widgets of a kind, in the order of their creation."""
    return [state for state in client.widget_state.values()
            if state["_model_name"] == f"{kind}Model"]


def check_line(checks, label, cell):
    """The cell has our own line, which was written over."""
    lines = text_of(cell, "stderr")
    last = lines.split("\r")[-1]
    loss = text_of(cell, "stdout").strip()
    checks.that(f"{STEPS}/{STEPS} [" in last and last.rstrip(" \n").endswith(f"{loss}]"),
                f"{label}: the line is {last!r}, the cell's {loss}")
    checks.that(re.fullmatch(r"(\r *\d+%\|[^\r\n]*){2,}\n", lines), f"{label}: {lines!r}")


async def check_absent(checks, client):
    """Without one of the packages there is a line, and nothing else on standard error."""
    for package in ("tqdm", "ipywidgets"):
        check_line(checks, f"without {package}", await run(client, ABSENT % package))
    checks.that(not client.widget_state, f"widgets: {client.widget_state}")


async def check_bar(checks, client):
    """The bar is tqdm's for notebooks, also in a shell of another name, as hosts have."""
    for number, prepare in enumerate((
            "train()", "shell = get_ipython()\n"
            "shell.__class__ = type('Shell', (type(shell),), {})\ntrain()")):
        cell = await run(client, prepare)
        bars, labels = states_of(client, "FloatProgress"), states_of(client, "HTML")
        checks.that(len(bars) == number + 1 and not text_of(cell, "stderr"),
                    f"{len(bars)} bars, and {text_of(cell, 'stderr')!r}")
        bar, label = bars[-1], labels[-1]["value"]
        checks.that((bar["value"], bar["max"], bar["bar_style"]) == (STEPS, STEPS, "success"),
                    f"bar: {bar}")
        loss = text_of(cell, "stdout").strip()
        # tqdm has blanks of the width of a digit.
        checks.that(f" {STEPS}/{STEPS} [" in label.replace("\u2007", " ") and loss in label,
                    f"{label!r} lacks {loss!r}")


async def check_interrupt(checks, client):
    """An interrupt ends the training after the step in progress, and the session goes on."""
    bars = len(states_of(client, "FloatProgress"))
    cell = asyncio.create_task(run(client, INTERRUPTED))
    while not cell.done() and not any(
            bar["value"] > 0 for bar in states_of(client, "FloatProgress")[bars:]):
        await asyncio.sleep(0.05)
    if not cell.done():  # else it has failed, and says why
        await client.km.interrupt_kernel()
    cell = await cell
    checks.that(text_of(cell, "stdout") == "True 0\n", f"interrupted: {cell.outputs}")
    bar = states_of(client, "FloatProgress")[-1]
    checks.that(bar["bar_style"] == "danger", f"the bar of an interrupted training: {bar}")
    cell = await run(client, "before = session.steps\ntrain(2)\nprint(session.steps - before)")
    checks.that(text_of(cell, "stdout").endswith("\n2\n"), f"afterwards: {cell.outputs}")


async def check_kernel(checks, folder):
    async with kernel_of(v4.new_notebook(), folder) as client:
        await run(client, BEGIN)
        await check_absent(checks, client)
        await check_bar(checks, client)
        await check_interrupt(checks, client)
        # Frees the ranks before the interpreter ends.
        await run(client, "session.close()")


def main():
    checks = Checks()
    asyncio.run(check_kernel(checks, Path(sys.argv[1]).resolve()))
    checks.finish()


if __name__ == "__main__":
    main()
