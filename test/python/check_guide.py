"""Runs the Python of a guide, and compares what it writes with the files of test/data.

usage: check_guide.py PAGE WORK DATA [--write]

Blocks fenced as ```python run in order, in WORK. DATA has the files that the commands of the page
use, and in losses.npz the losses of eleven steps of AdamW (1e-3, decay 0.01) by JAX or PyTorch.
--write creates DATA. Another version of JAX or torch-mlir may print another program, so this
compares only with the version that VERSION in DATA names.
"""

import argparse
import filecmp
import importlib.metadata
import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
STEPS = 11


def run_blocks(page, work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.chdir(work)
    names, text = {}, page.read_text()
    for found in BLOCK.finditer(text):
        # Errors then have the line of the page.
        line = text.count("\n", 0, found.start(1))
        exec(compile("\n" * line + found[1], page, "exec"), names)
    return names


def losses_of_jax(names):
    import jax
    train_step = jax.jit(names["train_step"].__wrapped__)  # donates nothing
    state, losses = [names["params"], names["moments"], names["step"]], []
    for _ in range(STEPS):
        *state, loss = train_step(*state, names["x"], names["labels"])
        losses.append(loss)
    return losses


def losses_of_torch(names):
    import torch
    module, losses = names["module"], []
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0.01)
    for _ in range(STEPS):
        loss = names["loss"](module, names["x"], names["labels"])
        losses.append(loss.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def version():
    packages = ("jax",) if "jax" in sys.modules else ("torch", "torch-mlir")
    return " ".join(f"{name} {importlib.metadata.version(name)}" for name in packages) + "\n"


def write(work, data):
    data.mkdir(exist_ok=True)
    for path in work.iterdir():
        shutil.copy(path, data)


def compare(checks, work, data):
    same = (data / "VERSION").read_text() == version()
    for path in sorted(data.iterdir()):
        if path.suffix == ".npz":
            got, wanted = np.load(work / path.name), np.load(path)
            checks.that(list(got) == list(wanted) and
                        all(np.allclose(got[name], wanted[name], rtol=1e-5) for name in wanted),
                        f"{path.name} differs")
        elif path.suffix == ".json" or same:
            checks.that(filecmp.cmp(work / path.name, path, shallow=False),
                        f"{path.name} differs from {path}")
    print(version(), end="")


def main():
    parser = argparse.ArgumentParser()
    for name in ("page", "work", "data"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    page, work, data = (path.resolve() for path in (options.page, options.work, options.data))
    names = run_blocks(page, work)
    losses = losses_of_jax(names) if "jax" in sys.modules else losses_of_torch(names)
    np.savez("losses.npz", losses=np.array([float(loss) for loss in losses], np.float32))
    (work / "VERSION").write_text(version())
    checks = Checks()
    if options.write:
        write(work, data)
    compare(checks, work, data)
    checks.finish()


if __name__ == "__main__":
    main()
