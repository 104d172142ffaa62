//===- ExponentialCalls.cpp - sums of exponentials that overflow ----------===//
//
//   logaddexp(self, other), logaddexp2(self, other)
//
// onnxscript exports them as Log(Exp(self) + Exp(other)), which is infinite where an exponential
// overflows or all of them underflow. They become ReduceLogSumExp of both, stacked.
//
//===----------------------------------------------------------------------===//

#include "CallRules.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace zero::importer {

/// `value` with the shape of `like`, and a dimension of one element before it.
static std::string stackable(CallEditor &editor, const std::string &value, const std::string &shape,
                             const std::string &first) {
  return editor.addNode("Unsqueeze", {editor.addNode("Expand", {value, shape}), first});
}

/// Makes `log`, the logarithm of `sum`, one of the sum of exp(a) and exp(b).
static void writeLogSumExp(CallEditor &editor, pb::NodeProto &log, const std::string &sum,
                           const std::string &a, const std::string &b) {
  std::string first = editor.addConstant(fromInts({1}, {0}));
  std::string shape = editor.addNode("Shape", {sum});
  std::string both = editor.addNode(
      "Concat", {stackable(editor, a, shape, first), stackable(editor, b, shape, first)},
      {intAttribute("axis", 0)});
  log.set_op_type("ReduceLogSumExp");
  log.clear_input();
  log.add_input(both);
  attributeOf(log, "keepdims") = intAttribute("keepdims", 0);
  if (editor.model.standardOpset() >= 18) {
    log.add_input(first);
    return;
  }
  pb::AttributeProto &axes = attributeOf(log, "axes");
  axes.set_name("axes");
  axes.set_type(pb::AttributeProto::INTS);
  axes.add_ints(0);
}

/// x if `name` is exp(x). If it is 2^x, for `base2`, x log(2). "" if it is neither.
static std::string exponentOf(CallEditor &editor, StringRef name, bool base2) {
  const pb::NodeProto *node = editor.producerOf(name);
  if (!node || node->op_type() != (base2 ? "Pow" : "Exp"))
    return {};
  if (!base2)
    return node->input(0);
  const std::string base = node->input(0), exponent = node->input(1);
  return editor.addNode("Mul", {exponent, editor.addNode("Log", {base})});
}

static void restoreLogAddExp(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  const bool base2 = call.op() == "logaddexp2";
  if (node.op_type() != "Log" || node.input_size() != 1)
    return;
  const pb::NodeProto *sum = editor.producerOf(node.input(0));
  if (!sum || sum->op_type() != "Add" || sum->input_size() != 2)
    return;
  const std::string a = exponentOf(editor, sum->input(0), base2);
  const std::string b = exponentOf(editor, sum->input(1), base2);
  if (a.empty() || b.empty())
    return;
  writeLogSumExp(editor, node, sum->output(0), a, b);
  editor.restored(call.op().str() + " written as ReduceLogSumExp");
}

CallRule exponentialRule(StringRef op) {
  return llvm::StringSwitch<CallRule>(op)
      .Cases({"logaddexp", "logaddexp2"}, restoreLogAddExp)
      .Default(nullptr);
}

} // namespace zero::importer
