//===- TieCalls.cpp - derivatives at ties and bounds ----------------------===//
//
//   max(x, dim), min(x, dim): the first of equal elements gets the gradient, which becomes an
//     attribute; of amax and amin, which are the same nodes, all of them
//   clamp(x, min, max), clamp_min(x, min), clamp_max(x, max): at a bound that is a number x gets
//     no gradient, as Clip has it; it shares the gradient with a tensor, as Max and Min have it
//   maximum(a, b), minimum(a, b): both share the gradient
//
// PyTorch exports clamps of both kinds as Clip or as Max and Min, and the exporter's optimizer
// writes a Min of a Max as Clip.
//
//===----------------------------------------------------------------------===//

#include "CallRules.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace zero::importer {

static void restoreIndex(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  const bool isExtreme = node.op_type() == "ReduceMax" || node.op_type() == "ReduceMin";
  if (!isExtreme || !(call.target.ends_with(".dim") || call.target.ends_with(".names_dim")))
    return;
  editor.annotate(node, intAttribute("first_of_equal", 1));
  editor.restored("extremes along a dimension whose first element gets the gradient of equal ones");
}

/// Whether a bound, as a call names it, is a number of the module. The exporter makes tensors of
/// them, which have this name.
static bool isNumber(StringRef bound) {
  return !bound.starts_with("%") || bound.starts_with("%scalar_tensor_default");
}

namespace {
/// One bound of a Clip, or a Max or Min of two operands.
struct Step {
  bool isLower;
  std::string bound;
  bool shares; ///< the gradient where the operand equals the bound
};
} // namespace

static void setInputs(pb::NodeProto &node, std::vector<std::string> inputs) {
  node.clear_input();
  for (std::string &input : inputs)
    node.add_input(std::move(input));
}

/// Makes `node` the chain of `steps` from `value` on.
static void rewrite(CallEditor &editor, pb::NodeProto &node, std::string value,
                    llvm::ArrayRef<Step> steps) {
  for (const Step &step : steps) {
    StringRef type = !step.shares ? "Clip" : step.isLower ? "Max" : "Min";
    std::vector<std::string> inputs{value, step.bound};
    if (!step.shares && !step.isLower)
      inputs.insert(inputs.begin() + 1, "");
    if (&step != &steps.back()) {
      value = editor.addNode(type, std::move(inputs));
      continue;
    }
    node.set_op_type(type.str());
    setInputs(node, std::move(inputs));
  }
  editor.restored("bounds that get gradients as their calls have it");
}

/// The steps of a Clip. `lowerShares` and `upperShares` say how the gradient is at the bounds.
static std::vector<Step> stepsOf(const pb::NodeProto &clip, bool lowerShares, bool upperShares) {
  std::vector<Step> steps;
  for (const bool isLower : {true, false})
    if (const int at = isLower ? 1 : 2; clip.input_size() > at && !clip.input(at).empty())
      steps.push_back({isLower, clip.input(at), isLower ? lowerShares : upperShares});
  return steps;
}

static void restoreClamp(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  const bool isUpperOnly = call.op() == "clamp_max";
  const bool lowerShares = !isUpperOnly && !isNumber(call.text(1, "min"));
  const bool upperShares = !isNumber(call.text(isUpperOnly ? 1 : 2, "max"));
  if (node.op_type() == "Clip" && (lowerShares || upperShares))
    rewrite(editor, node, node.input(0), stepsOf(node, lowerShares, upperShares));
  const bool isLower = node.op_type() == "Max";
  if ((isLower || node.op_type() == "Min") && node.input_size() == 2 &&
      !(isLower ? lowerShares : upperShares))
    rewrite(editor, node, node.input(0), {Step{isLower, node.input(1), /*shares=*/false}});
}

/// A Clip that was a Min of a Max, or a Max of a Min.
static void restoreExtremes(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  if (node.op_type() != "Clip" || call.args.size() != 2)
    return;
  const bool isUpper = call.op() == "minimum";
  StringRef inner = isUpper ? "%maximum" : "%minimum";
  const bool innerShares =
      llvm::any_of(call.args, [&](StringRef operand) { return operand.starts_with(inner); });
  std::vector<Step> steps = stepsOf(node, isUpper ? innerShares : true, isUpper || innerShares);
  if (!isUpper)
    std::reverse(steps.begin(), steps.end());
  rewrite(editor, node, node.input(0), steps);
}

CallRule tieRule(StringRef op) {
  return llvm::StringSwitch<CallRule>(op)
      .Cases({"max", "min"}, restoreIndex)
      .Cases({"clamp", "clamp_min", "clamp_max", "clip"}, restoreClamp)
      .Cases({"maximum", "minimum"}, restoreExtremes)
      .Default(nullptr);
}

} // namespace zero::importer
