//===- AttentionProducts.cpp - the products of attention ------------------===//

#include "AttentionProducts.h"
#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Axes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {

std::optional<double> scalarOf(Value value, ConstantValues &values) {
  if (std::optional<double> number = numberOf(value))
    return number;
  // Exporters compute the root of the scale in the graph.
  if (tensorType(value).getNumElements() != 1 || !values.isKnown(value))
    return std::nullopt;
  double number = 0;
  values.readRow(value, 0, number);
  return number;
}

bool takeScale(onnx::NodeOp node, Value scaled, double &scale, ConstantValues &values) {
  bool divides = node.is(op::Div);
  if ((!divides && !node.is(op::Mul)) || (divides && node.getInputs()[0] != scaled) ||
      node.getResult(0).getType() != scaled.getType())
    return false;
  std::optional<double> number = scalarOf(otherInput(node, scaled), values);
  if (!number || (divides && *number == 0))
    return false;
  scale = divides ? scale / *number : scale * *number;
  return true;
}

Value unscaled(Value value, double &scale, ConstantValues &values) {
  while (auto node = value.getDefiningOp<onnx::NodeOp>()) {
    ValueRange operands = node.getInputs();
    auto scaled = llvm::find_if(
        operands, [&](Value operand) { return takeScale(node, operand, scale, values); });
    if (scaled == operands.end())
      break;
    value = *scaled;
  }
  return value;
}

/// `permutation` followed by a transpose of the last two dimensions.
static SmallVector<int64_t> withLastSwapped(SmallVector<int64_t> permutation) {
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return permutation;
}

bool reshapesBatch(onnx::NodeOp node) {
  if (!node || !node.is(op::Reshape))
    return false;
  ArrayRef<int64_t> from = node.inputType(0).getShape(), to = node.outputType(0).getShape();
  return from.size() >= 2 && to.size() >= 2 && from.take_back(2) == to.take_back(2);
}

bool isProduct(onnx::NodeOp node) {
  if (!node || !node.isAnyOf({op::MatMul, own::Contract}) || node.inputType(0).getRank() < 2 ||
      node.inputType(1).getRank() != node.inputType(0).getRank())
    return false;
  auto batchOf = [&](unsigned operand) { return node.inputType(operand).getShape().drop_back(2); };
  return batchOf(0) == batchOf(1);
}

HeadRows readRows(Value value, bool swapped, ConstantValues *values) {
  HeadRows rows;
  auto unscale = [&](Value scaled) {
    return values ? unscaled(scaled, rows.scale, *values) : scaled;
  };
  while (true) {
    value = unscale(value);
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (!reshapesBatch(node) && !swapsLastTwo(node))
      break;
    swapped ^= swapsLastTwo(node);
    value = node.getInputs()[0];
  }
  if (onnx::NodeOp transpose = nodeOf(value, op::Transpose)) {
    rows.permutation = permutationOf(transpose);
    rows.root = unscale(transpose.getInputs()[0]);
  } else {
    rows.permutation = llvm::to_vector(llvm::seq<int64_t>(tensorType(value).getRank()));
    rows.root = value;
  }
  if (swapped)
    rows.permutation = withLastSwapped(rows.permutation);
  return rows;
}

Value HeadRows::build(NodeBuilder &builder) const {
  return isIdentityPermutation(permutation) ? root : builder.transpose(root, permutation);
}

std::optional<ScoresProduct> readScores(Value scores, ConstantValues *values) {
  bool swapped = false;
  onnx::NodeOp node;
  while (scores.hasOneUse() && !isProduct(node = scores.getDefiningOp<onnx::NodeOp>())) {
    if (!reshapesBatch(node) && !swapsLastTwo(node))
      return std::nullopt;
    swapped ^= swapsLastTwo(node);
    scores = node.getInputs()[0];
  }
  if (!scores.hasOneUse())
    return std::nullopt;
  HeadRows left = readRows(node.getInputs()[0], node.getInt("transA", 0), values);
  HeadRows right = readRows(node.getInputs()[1], !node.getInt("transB", 0), values);
  return swapped ? ScoresProduct{node, right, left} : ScoresProduct{node, left, right};
}

std::optional<MixingProduct> readMixing(OpOperand &use, ConstantValues *values) {
  auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
  if (!isProduct(node) || node.getInputs()[0] == node.getInputs()[1])
    return std::nullopt;
  bool onLeft = use.getOperandNumber() == 0;
  bool transA = node.getInt("transA", 0), transB = node.getInt("transB", 0);
  // On the right they are the transposed operand of a transposed product.
  if (!onLeft)
    return MixingProduct{node, transB, true, readRows(node.getInputs()[0], !transA, values)};
  return MixingProduct{node, !transA, false, readRows(node.getInputs()[1], transB, values)};
}

SmallVector<OpOperand *> usesOfWeights(Value weights) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : weights.getUses()) {
    auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
    if (reshapesBatch(node))
      llvm::append_range(uses, usesOfWeights(node.getResult(0)));
    else
      uses.push_back(&use);
  }
  return uses;
}

} // namespace zero
