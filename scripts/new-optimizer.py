#!/usr/bin/env python3
"""Writes the skeleton of an optimizer: its definition, and its formula and run in the tests.

usage: new-optimizer.py [--root DIR] NAME

NAME is that of its class, as SignSgd, which --optimizer has in lower case. The optimizer compiles
and is plain gradient descent. Its test fails until its TODOs are replaced.
"""

from stamp import check_class_name, fail, inserted, parser_of, title_of, write

SOURCE = """{title}

#include "../Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {{

class {name} : public Optimizer {{
public:
  explicit {name}(const Settings &settings) : Optimizer(settings) {{}}

  // TODO: what it stores for each parameter, as {{{{"exp_avg"}}}}.
  SmallVector<ParameterState> states() const override {{ return {{}}; }}
  unsigned numScalars() const override {{ return 1; }}

  /// Scalars: -lr. TODO: what else is the same for all elements.
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange,
                    SmallVectorImpl<Value> &results) const override {{
    results.push_back(arith::NegFOp::create(builder, loc, lr));
  }}

  /// TODO: its formula. This is plain gradient descent.
  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {{
    Formula f(builder, loc);
    Value weight = operands[0], gradient = operands[1], minusLr = operands[2];
    if (weightDecay != 0)
      gradient = f.fma(f.constant(weightDecay, weight.getType()), weight, gradient);
    results.push_back(f.fma(minusLr, gradient, weight));
  }}
}};

}} // namespace

namespace zero {{
void register{name}() {{
  registerOptimizer({{.name = "{flag}",
                     .summary = "TODO: what it does in a few words",
                     .source = "TODO: the paper",
                     .torch = "",
                     .hyperparameters = {{weightDecayParameter()}},
                     .examples = {{"--lr=1e-3 --weight-decay=0.1"}},
                     .create = make<{name}>}});
}}
}} // namespace zero
"""

RULE = '''def {flag}(p, g, state, t, lr, decay=0.0):
    raise NotImplementedError("TODO: the formula of {name}")


'''
CASE = """    ("--optimizer={flag} --lr=1e-3 --weight-decay=0.1", {flag}, dict(lr=1e-3, decay=0.1)),
"""


def main():
    parser = parser_of(__doc__)
    parser.add_argument("name")
    arguments = parser.parse_args()
    root, name = arguments.root, arguments.name
    check_class_name(name, "SignSgd")
    words = {"name": name, "flag": name.lower(), "title": title_of(name)}
    source, checks = f"lib/Optimizers/Definitions/{name}.cpp", "test/execute/check_optimizers.py"
    names = "".join(file.read_text(encoding="utf-8")
                    for file in (root / "lib/Optimizers/Definitions").glob("*.cpp"))
    text = (root / checks).read_text(encoding="utf-8")
    if f'.name = "{name.lower()}"' in names or (root / source).exists():
        fail(f"the optimizer {name.lower()} exists")
    text = inserted(text, "^def factor", RULE.format(**words))
    text = inserted(text, r"(?<=^BOTH_STAGES = \[\n)", CASE.format(**words))
    write(root, {source: SOURCE.format(**words), checks: text},
          f"replace each TODO in {source}, and the one in {checks}")


if __name__ == "__main__":
    main()
