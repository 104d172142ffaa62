#!/usr/bin/env python3
"""Writes docs/optimizers.md from what `zeroc --list-optimizers` says.

usage: list-optimizers.py [--check] [ZEROC]

With --check nothing is written; exits with 1 if the page is not up to date."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/optimizers.md"
HEAD = """# Optimizers

What `--optimizer` takes, as `zeroc --list-optimizers` says; the build writes this page. Each optimizer
is one file of `lib/Optimizers/Definitions`: its names, its flags with their defaults and ranges, its
states and its formulas. Flags, `--help`, errors, the keys of [a DeepSpeed configuration](config.md), this
page and the tests are made of it, so a new optimizer is a new file. Those that PyTorch has are
compared with it over ten steps by `test/execute/torch-optimizers.test`.

A flag that the optimizer has not is an error. *Key* is what PyTorch and DeepSpeed call it. *States* are
those of the tests' examples; each is of its parameter's size, and sharded at stages 1 to 3.

"""


def flag(own):
    if own["range"] == "switch":
        return f"| `--{own['flag']}` | `{own['key']}` | off | | {own['meaning']} |"
    default = ",".join(f"{value:g}" for value in own["default"])
    return f"| `--{own['flag']}` | `{own['key']}` | {default} | {own['range']} | {own['meaning']} |"


def section(optimizer):
    torch = f"`torch.optim.{optimizer['torch']}`" if optimizer["torch"] else "none"
    states = ", ".join(f"`{state}`" for state in optimizer["states"])
    lines = [f"## {optimizer['name']}", "", f"{optimizer['summary'][0].upper()}{optimizer['summary'][1:]}:",
             f"{optimizer['source']}. PyTorch: {torch}; DeepSpeed: `{optimizer['deepspeed']}`.",
             f"States: {states}. File: `{optimizer['file']}`.", "",
             "| flag | key | default | range | |", "|---|---|---|---|---|",
             *map(flag, optimizer["hyperparameters"])]
    if optimizer["neutral"]:
        keys = ", ".join(f"`{key['key']}` ({key['value']})" for key in optimizer["neutral"])
        lines += ["", "Keys of a DeepSpeed configuration that may only have this value:", keys + "."]
    return "\n".join(lines) + "\n"


def page(tool):
    listed = subprocess.run([tool, "--list-optimizers"], capture_output=True, text=True, check=True)
    return HEAD + "\n".join(map(section, json.loads(listed.stdout)))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    text = page(arguments[0] if arguments else str(ROOT / "build/bin/zeroc"))
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text() != text and f"{PAGE} is not up to date: run {sys.argv[0]}")
    elif not PAGE.exists() or PAGE.read_text() != text:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
