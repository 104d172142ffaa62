#!/usr/bin/env python3
"""Writes docs/reference/passes, a page for each phase, from the descriptions of the passes.

usage: list-passes.py [--check] [MLIR-TBLGEN [LLVM_INCLUDE_FOLDER]]

mlir-tblgen formats each Passes.td. With --check nothing is written; exits with 1 if a page is not
up to date, or if docs/design/pipeline.md lacks a pass or names one that does not exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES, PIPELINE = ROOT / "docs/reference/passes", ROOT / "docs/design/pipeline.md"
INDEX = """# Passes

The passes in the order of the phases, from the descriptions in `Passes.td`. The [compilation
pipeline](../../design/pipeline.md) says which of them a phase runs and when. `zero-opt` runs each
pass by its name; `zero-plan-tiles` and `zero-plan-memory`, which take the options of all phases,
exist only inside of phases. The build writes these pages.

| phase | pass | |
|---|---|---|
"""
# The phases in order. Passes of lib/Codegen belong to the phase `kernels`.
PHASES = ["Program", "Import", "Lift", "Recognise", "Precision", "Shard", "Differentiate", "Step", "Shape", "Kernels",
          "Codegen", "Place", "Partition", "Schedule", "Pack", "Emit", "EmitOnnx"]
PLANNERS = {"zero-plan-tiles", "zero-plan-memory"}
SECTION = re.compile(r"^### `-([^`]+)`\n\n_(.*)_\n", re.MULTILINE)


def table_of(phase):
    own = ROOT / f"include/zero/Transforms/{phase}/Passes.td"
    return own if own.exists() else ROOT / f"include/zero/{phase}/Passes.td"


def sections_of(phase, tblgen, include):
    """The output of mlir-tblgen for each pass, in the order of the td; mlir-tblgen sorts them by
    name."""
    table = table_of(phase)
    text = subprocess.run([tblgen, "-gen-pass-doc", f"-I{ROOT}", f"-I{include}", table],
                          check=True, capture_output=True, text=True).stdout
    parts = {SECTION.match(part)[1]: part
             for part in re.split(r"^(?=### `-)", text, flags=re.MULTILINE)[1:]}
    names = re.findall(r'^def \w+ : Pass<"([^"]+)"', table.read_text(), re.MULTILINE)
    return [(name, parts[name].replace("### `-", "## `", 1).replace("#### ", "### ")) for name in names]


def pages(tblgen, include):
    """The text of each page, by its path, and the names of all passes."""
    index, texts, names = INDEX, {}, []
    for phase in PHASES:
        parts = sections_of(phase, tblgen, include)
        page = phase.lower() + ".md"
        texts[PAGES / page] = "\n\n".join(
            [f"# Passes: {phase.lower()}", *(text.strip() for _, text in parts)]) + "\n"
        for name, text in parts:
            summary = re.search(r"^_(.*)_$", text, re.MULTILINE)[1]
            index += f"| [{phase.lower()}]({page}) | [`{name}`]({page}#{name}) | {summary} |\n"
            names.append(name)
    texts[PAGES / "README.md"] = index
    return texts, names


def check_pipeline(names):
    """The table of phases is written by hand, because it has conditions and guarantees."""
    known = set(names) | PLANNERS
    named = set(re.findall(r"`(zero-(?!opt)[a-z0-9-]+)`", PIPELINE.read_text()))
    if known != named:
        sys.exit(f"{PIPELINE}: not named: {sorted(known - named)}, no passes: {sorted(named - known)}")


def main():
    rest = [argument for argument in sys.argv[1:] if argument != "--check"]
    tblgen = rest[0] if rest else shutil.which("mlir-tblgen")
    include = rest[1] if len(rest) > 1 else Path(tblgen).resolve().parent.parent / "include"
    texts, names = pages(tblgen, include)
    stale = {page: text for page, text in texts.items()
             if not page.exists() or page.read_text() != text}
    if "--check" in sys.argv:
        if stale:
            sys.exit(f"{', '.join(map(str, stale))}: not up to date: run scripts/list-passes.py")
        check_pipeline(names)
    PAGES.mkdir(exist_ok=True)
    for page, text in stale.items():
        page.write_text(text)


if __name__ == "__main__":
    main()
