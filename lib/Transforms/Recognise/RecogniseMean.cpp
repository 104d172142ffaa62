//===- RecogniseMean.cpp - sums divided by their count to ReduceMean ------===//
//
// Two steps. A reduction whose result is only reshaped to have the reduced dimensions back keeps
// them. A sum that is only divided by the number of its elements is a mean.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Axes.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISEMEAN
#include "include/zero/Transforms/Recognise/Passes.h.inc"

static constexpr onnx::Operator kReductions[] = {op::ReduceSum, op::ReduceMean, op::ReduceMax,
                                                 op::ReduceMin, op::ReduceProd};

/// The shape of the operand of `node` with one element in each of `axes`.
static SmallVector<int64_t> keptShape(onnx::NodeOp node, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape(node.inputType(0).getShape());
  for (int64_t axis : axes)
    shape[axis] = 1;
  return shape;
}

/// Replaces the reshapes of `node` by one that keeps its dimensions.
static onnx::NodeOp keepDims(onnx::NodeOp node) {
  auto axes = listedAxes(node);
  if (!axes || axes->empty() || node.getInt("keepdims", 1) || node.use_empty())
    return node;
  SmallVector<int64_t> shape = keptShape(node, *axes);
  for (Operation *user : node->getUsers()) {
    auto view = dyn_cast<onnx::NodeOp>(user);
    if (!view || !view.isAnyOf({op::Reshape, op::Unsqueeze}) ||
        view.outputType(0).getShape() != ArrayRef(shape))
      return node;
  }
  NamedAttrList attrs(node.getAttrs());
  Builder builder(node.getContext());
  attrs.set("keepdims", builder.getI64IntegerAttr(1));
  OpBuilder at(node);
  auto kept = onnx::NodeOp::create(
      at, node.getLoc(), node.outputType(0).clone(shape), node.getOpType(), node.getInputs(),
      attrs.getDictionary(node.getContext()), node.getDomain(), node.getOpset(), node.getNode());
  for (Operation *user : llvm::to_vector(node->getUsers()))
    user->getResult(0).replaceAllUsesWith(kept.getResult(0));
  return kept;
}

/// Replaces the quotient of `sum`, a ReduceSum, by a ReduceMean.
static void takeMean(onnx::NodeOp sum) {
  onnx::NodeOp quotient = soleUser(sum.getResult(0), {op::Div});
  auto axes = listedAxes(sum);
  if (!quotient || quotient.getInputs()[0] != sum.getResult(0) || !axes || axes->empty() ||
      quotient.outputType(0) != sum.outputType(0) ||
      !isa<FloatType>(sum.outputType(0).getElementType()))
    return;
  int64_t count = 1;
  for (int64_t axis : *axes)
    count *= sum.inputType(0).getDimSize(axis);
  if (numberOf(quotient.getInputs()[1]) != double(count))
    return;
  OpBuilder at(sum);
  auto mean = onnx::NodeOp::create(at, sum.getLoc(), sum.getResultTypes(), op::ReduceMean.type,
                                   sum.getInputs(), sum.getAttrs(), op::ReduceMean.domain,
                                   sum.getOpset(), sum.getNode());
  quotient.replaceAllUsesWith(mean.getOutputs());
  remarkFound(mean, "mean");
}

namespace {
struct RecogniseMean : impl::RecogniseMeanBase<RecogniseMean> {
  void runOnOperation() override {
    forEachNode(getOperation(), kReductions, [](onnx::NodeOp node) {
      node = keepDims(node);
      // ReduceMean has its axes as an operand since opset 18, ReduceSum since 13.
      constexpr int64_t kAxesOperand = 18;
      if (node.is(op::ReduceSum) && (node.getOpset() >= kAxesOperand || node.getInts("axes")))
        takeMean(node);
    });
  }
};
} // namespace

} // namespace zero
