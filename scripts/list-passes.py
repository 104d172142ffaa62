#!/usr/bin/env python3
"""Writes docs/reference/passes.md from the descriptions of the passes.

usage: list-passes.py [--check] [MLIR-TBLGEN [LLVM_INCLUDE_FOLDER]]

mlir-tblgen formats each Passes.td. With --check nothing is written; exits with 1 if the page is
not up to date, or if docs/design/pipeline.md lacks a pass or names one that does not exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE, PIPELINE = ROOT / "docs/reference/passes.md", ROOT / "docs/design/pipeline.md"
HEAD = """# Passes

The passes of each phase, in the order of the phases, from the descriptions in `Passes.td`. The
[compilation pipeline](../design/pipeline.md) says which of them a phase runs and when. `zero-opt`
runs each pass by its name; `zero-plan-tiles` and `zero-plan-memory`, which take the options of all
phases, exist only inside of phases. The build writes this page."""
# The phases in order. Passes of lib/Codegen belong to the phase `kernels`.
TABLES = [(phase.lower(), f"include/zero/Transforms/{phase}/Passes.td")
          for phase in ("Import", "Recognise", "Precision", "Differentiate", "Step", "Shape",
                        "Kernels")]
TABLES += [("kernels: code generation", "include/zero/Codegen/Passes.td")]
TABLES += [(phase.lower(), f"include/zero/Transforms/{phase}/Passes.td")
           for phase in ("Place", "Partition", "Schedule", "Pack")]
TABLES += [("emit", "include/zero/Emit/Passes.td")]
PLANNERS = {"zero-plan-tiles", "zero-plan-memory"}


def in_order(table, text):
    """Sections in the order of the td: mlir-tblgen sorts them by name."""
    names = re.findall(r'^def \w+ : Pass<"([^"]+)"', (ROOT / table).read_text(), re.MULTILINE)
    sections = {re.match(r"### `-([^`]+)`", part)[1]: part
                for part in re.split(r"^(?=### )", text, flags=re.MULTILINE)[1:]}
    return "\n".join(sections[name].strip() + "\n" for name in names)


def section(title, table, tblgen, include):
    text = subprocess.run([tblgen, "-gen-pass-doc", f"-I{ROOT}", f"-I{include}", ROOT / table],
                          check=True, capture_output=True, text=True).stdout
    return f"## {title}\n\n{in_order(table, text)}"


def check_pipeline(page):
    """The table of phases is written by hand: it has conditions and guarantees."""
    known = set(re.findall(r"^### `-(zero-[^`]+)`", page, re.MULTILINE)) | PLANNERS
    named = set(re.findall(r"`(zero-(?!opt)[a-z0-9-]+)`", PIPELINE.read_text()))
    if known != named:
        sys.exit(f"{PIPELINE}: not named: {sorted(known - named)}, no passes: {sorted(named - known)}")


def main():
    rest = [argument for argument in sys.argv[1:] if argument != "--check"]
    tblgen = rest[0] if rest else shutil.which("mlir-tblgen")
    include = rest[1] if len(rest) > 1 else Path(tblgen).resolve().parent.parent / "include"
    page = "\n\n".join([HEAD, *(section(*table, tblgen, include).strip() for table in TABLES)]) + "\n"
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != page:
            sys.exit(f"{PAGE} is not up to date: run scripts/list-passes.py")
        check_pipeline(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
