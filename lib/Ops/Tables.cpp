//===- Tables.cpp - parameters of which nodes read rows -------------------===//

#include "zero/Ops/Tables.h"

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/CallAttrs.h"
#include "zero/Ops/OpTable.h"

using namespace mlir;

namespace zero::ops {

bool isProduct(onnx::NodeOp node) {
  const OpDef *def = lookup(node);
  return def && def->kind == Kind::Product;
}

std::optional<Factor> outputFactor(onnx::NodeOp node, unsigned operand) {
  if (!computes(node, Function::Product) || operand > 1 || node.getInputs().size() < 2)
    return std::nullopt;
  for (const Factor &factor : factorsOf(node))
    if (factor.operands[operand] >= 0 && factor.operands[1 - operand] < 0 && factor.results[0] >= 0)
      return factor;
  return std::nullopt;
}

bool isView(onnx::NodeOp node) {
  const OpDef *def = node ? lookup(node) : nullptr;
  return def && def->kind == Kind::View;
}

bool readsTable(OpOperand &use) {
  auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
  if (!node || !node.is(op::Gather) || use.getOperandNumber() != 0)
    return false;
  const int64_t axis = node.getInt("axis", 0);
  return axis == 0 || axis == -node.inputType(0).getRank();
}

bool isPlainLoss(onnx::NodeOp node) {
  return node.is(own::CrossEntropySum) && node.inputType(0).getRank() == 2 &&
         !node.getAttrs().contains(kLabelSmoothing) && !node.hasInput(3);
}

onnx::NodeOp lossOfScores(onnx::NodeOp product) {
  const int64_t classes = product.outputType(0).getShape().back();
  Value scores = product.getResult(0);
  while (scores.hasOneUse()) {
    OpOperand &reader = *scores.use_begin();
    auto next = dyn_cast<onnx::NodeOp>(reader.getOwner());
    if (!next || reader.getOperandNumber() != 0)
      return {};
    if (next.is(own::CrossEntropySum))
      return isPlainLoss(next) && next.inputType(0).getDimSize(1) == classes ? next
                                                                             : onnx::NodeOp();
    const OpDef *view = lookup(next);
    if (!view || view->kind != Kind::View)
      return {};
    scores = next.getResult(0);
  }
  return {};
}

} // namespace zero::ops
