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
OF_TENSORS = """The step of an element depends on all of its tensor. Every rank computes the steps of
whole tensors and applies its part of them. The states of whole tensors are on every rank; for a matrix
they are a row and a column. At stages 1 to 3 the ranks gather the gradients once more for this, which the
certificate counts as *update*. A parameter that `--tile-params-over` cuts is an error."""
OF_MATRICES = """The step of a matrix is computed from the whole matrix by products. Parameters that
are no matrices, and tables and the head, are updated by `--other-optimizer` ([guide](../guides/muon.md)).
At stages 1 to 3 one rank, the owner of a matrix, computes its step and stores its states of whole
tensors. A matrix that is stored in parts is gathered for this, which the certificate counts as *update*.
A matrix that `--tile-params-over` cuts is an error."""
LAYERWISE = """The step of a tensor is scaled by a ratio of norms of the whole tensor, which the ranks add
up from their parts. A parameter that `--tile-params-over` cuts is an error."""


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
