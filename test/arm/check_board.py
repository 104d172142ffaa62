"""Kills examples/board while it trains, and compares what it continues with an undisturbed run.

usage: check_board.py FOLDER PROGRAM.zexe LIBBLOCKS.so EMULATOR... TRAINER

LIBBLOCKS.so: Inputs/blocks.c, preloaded into a run of which the large blocks are counted.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from executables import read_executable

STEPS = 7


def make_ring():
    random = np.random.default_rng(0)
    labels = random.integers(0, 4, 16)
    noise = random.normal(0, 0.3, (16, 3, 32, 32))
    np.save("images.npy", (noise + labels[:, None, None, None]).astype(np.float32))
    np.save("labels.npy", labels)


def start(name):
    arguments = [program, "images.npy", "labels.npy", name, f"{name}.safetensors", str(STEPS)]
    return subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True)


def train(name):
    """The lines that it prints until it ends."""
    process = start(name)
    lines = process.communicate()[0].splitlines()
    assert process.returncode == 0, f"expected success, got {process.returncode}: {lines}"
    return lines


def kill_after(name, text):
    """Ends it without notice behind the line that begins with `text`."""
    process = start(name)
    for line in process.stdout:
        if line.startswith(text):
            break
    else:
        raise AssertionError(f"expected a line '{text}...'")
    process.kill()
    assert process.wait() == -9


def blocks_of(steps):
    """What is printed of the large blocks of a run of so many steps."""
    arguments = [program, "images.npy", "labels.npy", f"state{steps}", "counted.safetensors", str(steps)]
    done = subprocess.run([*command[:-1], "-E", f"LD_PRELOAD={blocks}", command[-1], *arguments],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    assert done.stderr.startswith("blocks above 4 KiB:"), f"got '{done.stderr}'"
    return done.stderr


folder, program, blocks, *command = sys.argv[1:]
os.chdir(folder)
make_ring()
memory, *losses = train("whole")
tables, _ = read_executable(program)
planned = [tier.peak for tier in tables.certificates if tier.peak]
assert memory == f"memory: {planned[0]} bytes", f"expected {planned}, got '{memory}'"
kill_after("broken", "step 5")
assert len(list(Path("broken").glob("step-*"))) == 1
memory_again, *rest = train("broken")
assert len(losses) == STEPS and rest == losses[4:], f"expected {losses[4:]}, got {rest}"
assert Path("whole.safetensors").read_bytes() == Path("broken.safetensors").read_bytes()
assert blocks_of(1) == blocks_of(3)
