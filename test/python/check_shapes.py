"""A session of a program with several shapes takes batches of each, also where they alternate.

usage: check_shapes.py WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
import zero
from huggingface_cases import CASES
from zero_test import Checks

ROWS, LENGTHS = 2, [32, 16, 16, 32, 16]
FLAGS = {"init": "normal:0.2", "optimizer": "adamw", "lr": 0.01}


def batch(seed, rows, columns):
    ids = np.random.default_rng(seed).integers(4, 40, (rows, columns))
    return {"input_ids": ids, "labels": ids}


def alone(folder, work):
    """Losses of steps that continue from each other's checkpoints, each in the program of its
    shape, and the weights after them."""
    losses, saved = [], None
    for step, columns in enumerate(LENGTHS):
        with zero.compile(folder, shape=f"{ROWS}x{columns}", **FLAGS).session() as session:
            if saved:
                session.load_checkpoint(saved, restart_data=True)
            losses.append(session.step(batch(step, ROWS, columns)).loss)
            saved = work / f"after{step}"
            session.save_checkpoint(saved)
            weights = session.state_dict()
    return losses, weights


def main():
    work = Path(sys.argv[1])
    folder = work / "model"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CASES["llama"]))
    checks = Checks()
    program = zero.compile(folder, shape=[f"{ROWS}x16", f"{ROWS}x32", "1x32"], **FLAGS)
    losses, weights = alone(folder, work)
    with program.session() as session:
        found = [session.step(batch(step, ROWS, columns)).loss
                 for step, columns in enumerate(LENGTHS)]
        checks.that(found == losses, f"steps that alternate: {found} instead of {losses}")
        for name, value in weights.items():
            checks.that(np.array_equal(session.tensor(name), value), f"{name} differs")
        of_row = session.evaluate(batch(9, 1, 32))
        with zero.compile(folder, shape="1x32", **FLAGS).session() as other:
            other.load_state_dict(session.state_dict())
            expected = other.evaluate(batch(9, 1, 32))
        checks.that(of_row == expected, f"a row alone: {of_row} instead of {expected}")
        try:
            session.step(batch(0, ROWS, 24))
            checks.that(False, "a batch of no shape is taken")
        except zero.BadDataError as error:
            checks.that("[*, 32] or [*, 16]" in str(error), f"a batch of no shape: {error}")
    checks.finish()


if __name__ == "__main__":
    main()
