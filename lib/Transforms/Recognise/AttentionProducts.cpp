//===- AttentionProducts.cpp - the products of attention ------------------===//

#include "AttentionProducts.h"
#include "Patterns.h"
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

Value unscaled(Value value, double &scale, ConstantValues &values) {
  while (true) {
    onnx::NodeOp product = nodeOf(value, op::Mul), quotient = nodeOf(value, op::Div);
    onnx::NodeOp node = product ? product : quotient;
    if (!node)
      return value;
    auto left = scalarOf(node.getInputs()[0], values),
         right = scalarOf(node.getInputs()[1], values);
    Value inner = node.getInputs()[left && product ? 1 : 0];
    bool isScaled = (right || (left && product)) && inner.getType() == value.getType();
    if (!isScaled || (quotient && *right == 0))
      return value;
    scale = product ? scale * (left ? *left : *right) : scale / *right;
    value = inner;
  }
}

bool keepsRows(RankedTensorType from, RankedTensorType to) {
  return from.getRank() >= 2 && to.getRank() >= 2 &&
         from.getShape().take_back(2) == to.getShape().take_back(2);
}

/// `permutation` followed by a transpose of the last two dimensions.
static SmallVector<int64_t> withLastSwapped(SmallVector<int64_t> permutation) {
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return permutation;
}

bool swapsLast(onnx::NodeOp node) {
  return node && node.is(op::Transpose) && node.inputType(0).getRank() >= 2 &&
         isIdentityPermutation(withLastSwapped(permutationOf(node)));
}

bool isProduct(onnx::NodeOp node) {
  if (!node || !node.isAnyOf({op::MatMul, own::Contract}) || node.inputType(0).getRank() < 2 ||
      node.inputType(1).getRank() != node.inputType(0).getRank())
    return false;
  auto batchOf = [&](unsigned operand) { return node.inputType(operand).getShape().drop_back(2); };
  return batchOf(0) == batchOf(1);
}

/// The operand of `node`, a Reshape that keeps rows; null if it is none.
static Value beforeMerge(onnx::NodeOp node) {
  return node && node.is(op::Reshape) && keepsRows(node.inputType(0), node.outputType(0))
             ? node.getInputs()[0]
             : Value();
}

HeadRows readRows(Value value, bool swapped, ConstantValues *values) {
  HeadRows rows;
  auto unscale = [&](Value scaled) {
    return values ? unscaled(scaled, rows.scale, *values) : scaled;
  };
  while (true) {
    value = unscale(value);
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (Value inner = beforeMerge(node)) {
      value = inner;
    } else if (swapsLast(node)) {
      value = node.getInputs()[0];
      swapped = !swapped;
    } else {
      break;
    }
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
    Value merged = beforeMerge(node);
    if (!merged && !swapsLast(node))
      return std::nullopt;
    swapped ^= !merged;
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
    if (beforeMerge(node))
      llvm::append_range(uses, usesOfWeights(node.getResult(0)));
    else
      uses.push_back(&use);
  }
  return uses;
}

} // namespace zero
