#!/usr/bin/env python3
"""Writes the skeleton of a pass: its td entry, its .cpp and its lit test.

usage: new-pass.py [--root DIR] PHASE NAME

PHASE is a directory of lib/Transforms in lower case (place, schedule, ...), NAME the pass
without 'zero-', as in count-transfers. The pass compiles, changes nothing and passes its test.
"""

import argparse
import re
import sys
from pathlib import Path

TD = """
def {type} : Pass<"zero-{name}", "::mlir::ModuleOp"> {{
  let summary = "TODO: an imperative sentence of at most 72 characters";
  let description = [{{
    TODO: what the pass does, then why. What it expects of the program, what it guarantees.
  }}];
}}

"""

SOURCE = """{title}

#include "zero/Transforms/{phase}/Passes.h"

using namespace mlir;

namespace zero {{
#define GEN_PASS_DEF_{upper}
#include "include/zero/Transforms/{phase}/Passes.h.inc"
}} // namespace zero

using namespace zero;

namespace {{

struct {type} : zero::impl::{type}Base<{type}> {{
  void runOnOperation() override {{
    // TODO: decide on getOperation() and rewrite it; signalPassFailure() after an error.
  }}
}};

}} // namespace
"""

TEST = """// TODO: what the pass does in this case.
// RUN: zero-opt %s --zero-{name} | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: return
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {{
  return %x : tensor<4xf32>
}}
"""


def title_of(name):
    """The first line of a source file, 80 columns wide."""
    head = f"//===- {name}.cpp - TODO: what it does in a few words "
    return head + "-" * (75 - len(head)) + "===//"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("phase")
    parser.add_argument("name")
    arguments = parser.parse_args()
    root, phase, name = arguments.root, arguments.phase.capitalize(), arguments.name
    phases = sorted(d.name for d in (root / "lib/Transforms").iterdir() if d.is_dir())
    if phase not in phases:
        sys.exit(f"error: expected a phase of {', '.join(map(str.lower, phases))}, "
                 f"got '{arguments.phase}'")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or name.startswith("zero-"):
        sys.exit(f"error: expected a name such as count-transfers, without 'zero-', got '{name}'")
    type_ = "".join(part.capitalize() for part in name.split("-"))
    words = {"name": name, "type": type_, "phase": phase, "upper": type_.upper(),
             "title": title_of(type_)}

    td = root / "include/zero/Transforms" / phase / "Passes.td"
    source = root / "lib/Transforms" / phase / f"{type_}.cpp"
    test = root / "test/transforms" / phase.lower() / f"{name}.mlir"
    passes, ending = td.read_text(encoding="utf-8"), re.compile(r"\n*^#endif.*\n*\Z", re.M)
    if f"def {type_} " in passes or f'"zero-{name}"' in passes or source.exists() or test.exists():
        sys.exit(f"error: the pass zero-{name} exists")
    end = ending.search(passes)
    td.write_text(passes[:end.start()] + "\n" + TD.format(**words) + end[0].lstrip("\n"),
                  encoding="utf-8")
    source.write_text(SOURCE.format(**words), encoding="utf-8")
    test.parent.mkdir(parents=True, exist_ok=True)
    test.write_text(TEST.format(**words), encoding="utf-8")
    for path in (td, source, test):
        print(f"wrote {path.relative_to(root)}")
    print(f"next: replace each TODO, and add create{type_}() to lib/Pipelines/{phase}.cpp")


if __name__ == "__main__":
    main()
