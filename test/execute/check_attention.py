"""Trains one step of each form of attention that JAX programs have, and compares the parameters with
JAX's.

usage: check_attention.py FOLDER WORK

Limit: changes of the parameters within 1e-5 of the largest. Each form but grouped queries of
jax.nn.dot_product_attention must become one attention and one gradient of it.
"""

import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, read_safetensors, run_tool

UNRECOGNISED = ("grouped_api",)


def count_nodes(program, flags):
    text = run_tool("zeroc", program, *flags, "--plan-only", "--dump-after=recognise")
    return [text.count(f'"{name}"') for name in ("Attention", "AttentionGrad")]


def check_form(checks, program, work):
    flags = [f"--roles={program.with_suffix('.json')}"]
    expected = [0, 0] if program.stem in UNRECOGNISED else [1, 1]
    got = count_nodes(program, flags)
    checks.that(got == expected, f"{program.stem}: attention and gradient {got}, not {expected}")
    before, after = (dict(np.load(program.with_name(f"{program.stem}-{when}.npz")))
                     for when in ("before", "after"))
    saved = work / f"{program.stem}.safetensors"
    run_tool("zero-run", program, *flags, f"--weights={program.with_name(program.stem)}-before.npz",
             f"--data={program.with_name('batch.npz')}", "--steps=1", f"--save={saved}", "--quiet")
    trained = read_safetensors(saved)
    largest = max(np.abs(after[name] - before[name]).max() for name in after)
    error = max(np.abs(trained[name] - after[name]).max() for name in after) / largest
    checks.that(error < 1e-5, f"{program.stem}: parameters off by {error:.1e} of the largest change")


def main():
    folder, work = map(Path, sys.argv[1:3])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    programs = sorted(folder.glob("*.mlir"))
    checks.that(len(programs) == 8, f"{len(programs)} programs in '{folder}', not 8")
    for program in programs:
        check_form(checks, program, work)
    checks.finish()


if __name__ == "__main__":
    main()
