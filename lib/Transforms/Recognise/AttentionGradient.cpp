//===- AttentionGradient.cpp - the backward pass of one attention ---------===//

#include "AttentionGradient.h"
#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/Axes.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {

/// Whether `node` is the gradient of a softmax over the last dimension.
static bool isSoftmaxGrad(onnx::NodeOp node) {
  if (!node || !node.isAnyOf({own::SoftmaxGrad, {"com.microsoft", "SoftmaxGrad_13"}}))
    return false;
  int64_t axis = node.getInt("axis", -1);
  return axis == -1 || axis == node.outputType(0).getRank() - 1;
}

bool AttentionGradient::read(ArrayRef<OpOperand *> uses) {
  for (OpOperand *use : uses) {
    auto node = dyn_cast<onnx::NodeOp>(use->getOwner());
    if (isSoftmaxGrad(node) && use->getOperandNumber() == 1 && !softmax) {
      softmax = node;
      continue;
    }
    std::optional<MixingProduct> product = readMixing(*use);
    if (!product || product->overKeys || mixed)
      return false;
    mixed = product;
  }
  if (softmax)
    slope = readScores(softmax.getInputs()[0]);
  return slope && (!mixed || mixed->rows.isSame(slope->left));
}

/// Whether `choice` hides what the forward pass hid, where the gradient is zero anyway.
bool AttentionGradient::isChosen(onnx::NodeOp choice, ArrayRef<ScoresChoice> choices) const {
  if (!choice.is(op::Where))
    return false;
  ValueRange inputs = choice.getInputs();
  return llvm::any_of(choices, [&](const ScoresChoice &taken) {
    return taken.condition == inputs[0] && inputs[taken.negated ? 2 : 1] == scores &&
           numberOf(inputs[taken.negated ? 1 : 2]) == 0.0;
  });
}

bool AttentionGradient::climbDown(ArrayRef<ScoresChoice> choices) {
  scores = softmax.getResult(0);
  while (scores.hasOneUse()) {
    auto user = dyn_cast<onnx::NodeOp>(*scores.user_begin());
    if (!user || isProduct(user))
      return user != nullptr;
    if (!reshapesBatch(user) && !isChosen(user, choices) && !takeScale(user, scores, scale, values))
      return false;
    scores = user.getResult(0);
  }
  return true;
}

bool AttentionGradient::takeScoresUse(OpOperand &use, const AttentionOperands &operands) {
  std::optional<MixingProduct> product = readMixing(use, &values);
  if (!product || operands.scale == 0)
    return false;
  Result &result = results[product->overKeys ? 0 : 1];
  if (result.node || !product->rows.isSame(product->overKeys ? operands.key : operands.query))
    return false;
  result = {product->node, product->transposed, scale * product->rows.scale / operands.scale};
  return true;
}

bool AttentionGradient::matches(const AttentionOperands &operands) {
  if (!slope->right.isSame(operands.value) || !climbDown(operands.choices))
    return false;
  if (mixed)
    results[2] = {mixed->node, mixed->transposed};
  return llvm::all_of(usesOfWeights(scores),
                      [&](OpOperand *use) { return takeScoresUse(*use, operands); });
}

/// The sum of `result` over groups of `times` heads, if nothing else reads it.
std::optional<AttentionGradient::Result> AttentionGradient::sumOf(Result result, int64_t times) {
  Value value = result.node.getResult(0);
  while (value.hasOneUse()) {
    auto user = dyn_cast<onnx::NodeOp>(*value.user_begin());
    if (!user)
      return std::nullopt;
    if (user.is(op::ReduceSum)) {
      ArrayRef<int64_t> shape = tensorType(value).getShape();
      auto axes = listedAxes(user);
      int64_t copies = int64_t(shape.size()) - 3;
      bool sumsCopies =
          copies >= 1 && axes && *axes == SmallVector<int64_t>{copies} && shape[copies] == times;
      result.node = user;
      return sumsCopies ? std::optional(result) : std::nullopt;
    }
    if (swapsLastTwo(user))
      result.transposed = !result.transposed;
    else if (!reshapesBatch(user) && !takeScale(user, value, result.factor, values))
      return std::nullopt;
    value = user.getResult(0);
  }
  return std::nullopt;
}

bool AttentionGradient::takeSums(int64_t times) {
  if (times == 1)
    return true;
  std::array<Result, 3> sums = results;
  for (Result &result : MutableArrayRef(sums).drop_front()) {
    std::optional<Result> sum = result.node ? sumOf(result, times) : result;
    if (!sum)
      return false;
    result = *sum;
  }
  results = sums;
  return true;
}

onnx::NodeOp AttentionGradient::getFirst() const {
  return mixed && mixed->node->isBeforeInBlock(slope->node) ? mixed->node : slope->node;
}

void AttentionGradient::replace(onnx::NodeOp attention) {
  OpBuilder at(getFirst());
  NodeBuilder builder(at, softmax.getLoc(), softmax.getNode());
  SmallVector<Value> operands{
      builder.reshape(slope->left.build(builder), attention.outputType(0).getShape())};
  llvm::append_range(operands, attention.getInputs().take_front(3));
  llvm::append_range(operands, attention.getOutputs());
  llvm::append_range(operands, attention.getInputs().drop_front(3));
  auto types = llvm::to_vector(attention.getInputs().take_front(3).getTypes());
  onnx::NodeOp made =
      builder.create(own::AttentionGrad, types, operands, attention.getAttrs().getValue());
  for (auto [result, gradient] : llvm::zip_equal(results, made.getOutputs())) {
    if (!result.node)
      continue;
    Value value = gradient;
    if (!isNumber(result.factor, 1))
      value = builder.mul(value, builder.scalar(result.factor, value.getType()));
    if (result.transposed)
      value = builder.transposeLast(value);
    result.node.replaceAllUsesWith(
        ValueRange(builder.reshape(value, result.node.outputType(0).getShape())));
  }
}

} // namespace zero
