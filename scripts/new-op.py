#!/usr/bin/env python3
"""Writes the skeleton of an operator: its .cpp, its line in the registry and its cases.

usage: new-op.py [--root DIR] NAME

NAME is that of an elementwise operator of ONNX, as Gudermann. It compiles. Until its TODOs are
replaced, a model that has it is an error, and so its cases fail.
"""

import re

from stamp import check_class_name, fail, inserted, parser_of, signature, title_of, write

SOURCE = """{title}

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {{

/// TODO: the formula of an element. Build it in place of the error, as in:
///   lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
{lower}
  return node.emitError("TODO: the lowering of {name}");
}}

/// TODO: the formula. Fill `grads` where `wanted`; builder.none() is a zero.
{gradient}
  return node.emitError("TODO: the gradient of {name}");
}}

// TODO: the first opset that has it, its kind, and what else OpDef says of it.
void register{name}() {{
  OpDef def{{{{"", "{name}"}}, 1, kNewestOpset, Kind::Elementwise}};
  def.lower = lower{name};
  def.gradient = {lowName}Gradient;
  registerOp(def);
}}

}} // namespace zero::ops
"""

CASES = '''"""Cases of {name}."""
import numpy as np

from harness import Case

rng = np.random.default_rng(0)


def cases():
    # TODO: its operands, attributes and corner cases; by=, if ONNX's reference lacks the operator.
    return [Case("{name}", [rng.standard_normal((4, 5)).astype(np.float32)], grad=[0])]
'''


def main():
    parser = parser_of(__doc__)
    parser.add_argument("name")
    arguments = parser.parse_args()
    root, name = arguments.root, arguments.name
    check_class_name(name, "Gudermann")
    # An acronym in front is one word: lrnGradient.
    lowName = re.sub(r"^[A-Z]+(?![a-z])|^[A-Z]", lambda word: word[0].lower(), name)
    words = {"name": name, "lowName": lowName, "title": title_of(name)}
    words["lower"] = signature(f"static LogicalResult lower{name}", "onnx::NodeOp node",
                               "ValueRange inputs", "OpBuilder &builder", "Lowered &lowered")
    words["gradient"] = signature(
        f"static LogicalResult {lowName}Gradient", "onnx::NodeOp node", "ValueRange dy",
        "ArrayRef<bool> wanted", "NodeBuilder &builder", "MutableArrayRef<Value> grads")
    registry = (root / "lib/Ops/Registry.cpp").read_text(encoding="utf-8")
    source, cases = f"lib/Ops/{name}.cpp", f"test/ops/cases_{name.lower()}.py"
    if f"  X({name}) " in registry or (root / source).exists() or (root / cases).exists():
        fail(f"the operator {name} exists")
    after = next((other for other in re.findall(r"^  X\((\w+)\)", registry, re.M) if other > name),
                 "Where")
    line = f"  X({name})".ljust(99) + "\\\n"
    write(root, {"lib/Ops/Registry.cpp": inserted(registry, rf"^  X\({after}\)", line),
                 source: SOURCE.format(**words), cases: CASES.format(**words)},
          f"replace each TODO in {source}, and those in {cases}")


if __name__ == "__main__":
    main()
