#!/usr/bin/env python3
"""Writes the skeleton of a pass: its td entry, its .cpp and its lit test.

usage: new-pass.py [--root DIR] PHASE NAME

PHASE is a directory of lib/Transforms in lower case (place, schedule, ...), NAME the pass
without 'zero-', as in count-transfers. The pass compiles, changes nothing and passes its test.
"""

import re

from stamp import fail, inserted, parser_of, title_of, write

TD = """def {type} : Pass<"zero-{name}", "::mlir::ModuleOp"> {{
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


def main():
    parser = parser_of(__doc__)
    parser.add_argument("phase")
    parser.add_argument("name")
    arguments = parser.parse_args()
    root, phase, name = arguments.root, arguments.phase.capitalize(), arguments.name
    phases = sorted(d.name for d in (root / "lib/Transforms").iterdir() if d.is_dir())
    if phase not in phases:
        fail(f"expected a phase of {', '.join(map(str.lower, phases))}, got '{arguments.phase}'")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or name.startswith("zero-"):
        fail(f"expected a name such as count-transfers, without 'zero-', got '{name}'")
    type_ = "".join(part.capitalize() for part in name.split("-"))
    words = {"name": name, "type": type_, "phase": phase, "upper": type_.upper(),
             "title": title_of(type_)}

    td = f"include/zero/Transforms/{phase}/Passes.td"
    source = f"lib/Transforms/{phase}/{type_}.cpp"
    test = f"test/transforms/{phase.lower()}/{name}.mlir"
    passes = (root / td).read_text(encoding="utf-8")
    if (f"def {type_} " in passes or f'"zero-{name}"' in passes or (root / source).exists()
            or (root / test).exists()):
        fail(f"the pass zero-{name} exists")
    write(root, {td: inserted(passes, r"^#endif.*\n*\Z", TD.format(**words)),
                 source: SOURCE.format(**words), test: TEST.format(**words)},
          f"replace each TODO, and add create{type_}() to lib/Pipelines/{phase}.cpp")


if __name__ == "__main__":
    main()
