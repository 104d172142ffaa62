#!/usr/bin/env python3
"""Writes docs/reference/optimizers.md from the output of `zeroc --list-optimizers`.

usage: list-optimizers.py [--check] [ZEROC]

With --check nothing is written; exits with 1 if the page is not up to date."""

import json
import subprocess
import sys
from pathlib import Path

from generated import write
from textwrap import fill

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/optimizers.md"
HEAD = """The values of `--optimizer`, as `zeroc --list-optimizers` prints them. The build writes this page. Each
optimizer is one file of `lib/Optimizers/Definitions`: its names, its flags with defaults and ranges, its
states and its formulas. Flags, `--help`, errors, the keys of [a DeepSpeed configuration](config.md), this
page and the tests are generated from it, so a new optimizer is a new file. Optimizers that PyTorch has are
compared with PyTorch over ten steps by `test/execute/torch-optimizers.test`.

A flag that the selected optimizer does not have is an error. *Key* is the name in PyTorch and DeepSpeed.
*States* are those of the settings that the tests use. Each state has the size of its parameter and is
sharded at stages 1 to 3, unless it is a state of whole tensors."""
OF_TENSORS = """The step of an element depends on all of its tensor. At stages 1 to 3 one rank, the owner
of a tensor, computes its step and stores its states of whole tensors, a row and a column for a matrix.
Gradients are reduced to the owner, so the exchange is that of AdamW. Buckets of at most `--bucket-bytes`,
at stage 1 of any size, have whole tensors, in slices of at most 10 % more elements in all; what then fits
into none takes at most half more. Every rank computes the step of a tensor that fits into no slice, such
as one of more than `--bucket-bytes` divided by the number of ranks, and stores its states: an exchange
with an owner takes longer. Ranks gather the gradient of such a tensor at stages 2 and 3, which the
certificate counts as *update*; it also states the balance of operations. A parameter that
`--tile-params-over` cuts is an error."""
OF_MATRICES = """The step of a matrix is computed from the whole matrix by products. Parameters that
are no matrices, and tables and the head, are updated by `--other-optimizer` ([guide](../guides/muon.md)).
At stages 1 to 3 one rank, the owner of a matrix, computes its step and stores its states of whole
tensors. A matrix that is stored in parts is gathered for this, which the certificate counts as *update*.
A matrix that `--tile-params-over` cuts is an error."""
LAYERWISE = """The step of a tensor is scaled by a ratio of norms of the whole tensor. It needs no owner:
each rank sums squares of blocks of 64 elements of its slice, of the parameter and of its direction, ranks
exchange these sums, and all add them in the same order. So each operation on elements is done once, the
certificate counts the elements of AdamW, and beside them ranks receive 1/32 of that of a gradient, counted
as `control_elements` in the report of a run. A parameter that `--tile-params-over` cuts is an error."""


def paragraph(text):
    return fill(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False)


def flag(own):
    if own["range"] == "switch":
        return f"| `--{own['flag']}` | `{own['key']}` | off | | {own['meaning']} |"
    if own["words"]:
        words = ", ".join(f"`{word}`" for word in own["words"])
        return f"| `--{own['flag']}` | `{own['key']}` | {own['words'][0]} | {words} | {own['meaning']} |"
    default = ",".join(f"{value:g}" for value in own["default"])
    return f"| `--{own['flag']}` | `{own['key']}` | {default} | {own['range']} | {own['meaning']} |"


def states_of(optimizer):
    parts = [", ".join(f"`{state}`" for state in optimizer[key])
             for key in ("states", "tensor_states")]
    if optimizer["tensor_states"]:
        return f"States of whole tensors: {parts[1]}." + (f" Others: {parts[0]}." if parts[0] else "")
    return f"States: {parts[0]}."


def section(optimizer):
    torch = f"`torch.optim.{optimizer['torch']}`" if optimizer["torch"] else "none"
    summary = optimizer["summary"]
    about = (f"{summary[0].upper()}{summary[1:]}: {optimizer['source']}. PyTorch: {torch}; DeepSpeed: "
             f"`{optimizer['deepspeed']}`. {states_of(optimizer)} File: `{optimizer['file']}`.")
    lines = [f"## {optimizer['name']}", "", paragraph(about), "",
             "| flag | key | default | range | |", "|---|---|---|---|---|",
             *map(flag, optimizer["hyperparameters"])]
    for key, text in (("of_tensors", OF_TENSORS), ("of_matrices", OF_MATRICES), ("layerwise", LAYERWISE)):
        if optimizer[key]:
            lines += ["", paragraph(text)]
    if optimizer["neutral"]:
        keys = ", ".join(f"`{key['key']}` ({key['value']})" for key in optimizer["neutral"])
        lines += ["", paragraph("Keys of a DeepSpeed configuration that must have this value: "
                                f"{keys}.")]
    return "\n".join(lines) + "\n"


def page(tool):
    listed = subprocess.run([tool, "--list-optimizers"], capture_output=True, text=True, check=True)
    head = "\n\n".join(map(paragraph, HEAD.split("\n\n")))
    return f"# Optimizers\n\n{head}\n\n" + "\n".join(map(section, json.loads(listed.stdout)))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    text = page(arguments[0] if arguments else str(ROOT / "build/bin/zeroc"))
    write(PAGE, text)


if __name__ == "__main__":
    main()
