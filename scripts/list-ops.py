#!/usr/bin/env python3
"""Writes docs/reference/ops.md, the table of operators, from the output of `zero-translate`.

usage: list-ops.py [--check] [ZERO_TRANSLATE]

With --check nothing is written; exits with 1 if the page is not up to date."""

import subprocess
import sys
from pathlib import Path

from generated import write

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/ops.md"
HEAD = """# Operators

The operators that `lib/Ops` supports, as `zero-translate --list-operators` prints them. The build
writes this page. An operator outside this table, or of another opset, is an error at import; one
error lists all of them. ONNX functions are inlined first, so a model may use more operators than
these: [conformance](conformance.md) lists the results of ONNX's own tests.

- *Domain*: `ai.onnx` is ONNX's. `com.microsoft` has the operators of ONNX Runtime's training
  graphs, of version 1. It writes some of them into the domain of ONNX.
- *Opsets* are versions of the model's opset import.
- *Gradient*: `yes`: the operator has its own rule. `expanded`: it is rewritten to operators of
  this table before differentiation. `zero`: the derivative is zero wherever it exists, because the
  results are roundings, positions, shapes or truth values. `lowering`: the operators that compute
  the same are differentiated; if there are none, such as for the bits of a float, it is an error
  that the loss depends on trained parameters through the operator.
- *Unsigned*: it also accepts unsigned integers.

"""


def page(tool):
    table = subprocess.run([tool, "--list-operators"], capture_output=True, text=True, check=True)
    lines = ["| operator | domain | opsets | gradient | unsigned | file |", "|---|---|---|---|---|---|"]
    for line in table.stdout.splitlines():
        domain, name, first, last, gradient, unsigned, family = line.split("\t")
        lines.append(f"| {name} | {domain} | {first}-{last} | {gradient} | {unsigned} "
                     f"| `lib/Ops/{family}.cpp` |")
    return HEAD + "\n".join(lines) + "\n"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    text = page(arguments[0] if arguments else str(ROOT / "build/bin/zero-translate"))
    write(PAGE, text)


if __name__ == "__main__":
    main()
