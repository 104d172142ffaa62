//===- FoldEmpty.cpp - fold nodes on tensors without elements -------------===//

#include "dialects/Onnx/Operators.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_FOLDEMPTY
#include "include/zero/Transforms/Import/Passes.h.inc"

static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

/// Whether `node` has an operand without elements among its data. Integers are shapes, axes and
/// indices, which say by being empty that there is none, unless they are concatenated. So do the
/// region and the scales of Resize; of what CastLike takes its type from, no element counts.
static bool readsEmpty(onnx::NodeOp node) {
  if (node.isAnyOf({op::Resize, op::CastLike}))
    return isEmpty(node.getInputs()[0]);
  return llvm::any_of(node.getInputs(), [&](Value input) {
    return isEmpty(input) && (isa<FloatType>(getElementTypeOrSelf(input)) || node.is(op::Concat));
  });
}

/// The number that all elements of a result of `node` are if an operand that it reduces has no
/// elements.
static std::optional<double> resultOverNothing(onnx::NodeOp node) {
  if (node.isAnyOf(
          {op::MatMul, op::Einsum, op::ReduceSum, op::ReduceSumSquare, op::ReduceL1, op::ReduceL2}))
    return 0;
  if (node.is(op::ReduceProd))
    return 1;
  const double infinity = std::numeric_limits<double>::infinity();
  if (node.isAnyOf({op::ReduceMax, op::ReduceLogSum, op::ReduceLogSumExp}))
    return -infinity;
  if (node.is(op::ReduceMin))
    return infinity;
  if (node.is(op::ReduceMean))
    return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

namespace {
class Folder {
public:
  explicit Folder(func::FuncOp step) : step(step), builder(step.getContext()) {}

  LogicalResult run() {
    for (Operation &op : llvm::make_early_inc_range(step.getBody().front())) {
      builder.setInsertionPoint(&op);
      if (isa<arith::ConstantOp>(op))
        continue;
      for (Value result : op.getResults())
        if (isEmpty(result) && isa<ReadOp, onnx::NodeOp>(op))
          result.replaceAllUsesWith(emptyOf(result));
      auto node = dyn_cast<onnx::NodeOp>(op);
      if (op.getNumResults() > 0 && isa<ReadOp, onnx::NodeOp>(op) &&
          llvm::all_of(op.getResults(), [](Value result) { return isEmpty(result); }))
        op.erase();
      else if (node && readsEmpty(node) && failed(fold(node)))
        return failure();
    }
    return success();
  }

private:
  Value emptyOf(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return arith::ConstantOp::create(builder, value.getLoc(),
                                     DenseElementsAttr::get(type, ArrayRef<Attribute>{}));
  }

  /// Replaces `node`, which has results with elements, but an operand without.
  LogicalResult fold(onnx::NodeOp node) {
    NodeBuilder nodes(builder, node.getLoc(), node.getNode());
    if (node.is(op::Concat))
      return foldConcat(node);
    if (std::optional<double> number = resultOverNothing(node))
      return replace(node, nodes.splat(*number, node.outputType(0)));
    if (node.is(op::Gemm))
      return replace(node, foldGemm(node, nodes));
    if (node.isAnyOf({op::ScatterElements, op::ScatterND}) && !isEmpty(node.getInputs()[0]))
      return replace(node, node.getInputs()[0]);
    return node.emitError() << node.describe()
                            << " reads a tensor without elements: expected a product, a sum, a "
                               "concatenation or a scatter; leave the tensor out of the model";
  }

  LogicalResult replace(onnx::NodeOp node, Value value) {
    node.getOutputs()[0].replaceAllUsesWith(value);
    node.erase();
    return success();
  }

  LogicalResult foldConcat(onnx::NodeOp node) {
    SmallVector<Value> kept =
        llvm::filter_to_vector(node.getInputs(), [](Value input) { return !isEmpty(input); });
    if (kept.size() == 1)
      return replace(node, kept.front());
    node.getInputsMutable().assign(kept);
    return success();
  }

  /// What is left of alpha A B + beta C.
  Value foldGemm(onnx::NodeOp node, NodeBuilder &nodes) {
    RankedTensorType type = node.outputType(0);
    if (node.getInputs().size() < 3 || isa<NoneType>(node.getInputs()[2].getType()))
      return nodes.splat(0, type);
    Value added = nodes.expand(node.getInputs()[2], type.getShape());
    return nodes.mul(added, nodes.scalar(node.getFloat("beta", 1), type));
  }

  func::FuncOp step;
  OpBuilder builder;
};

struct FoldEmpty : impl::FoldEmptyBase<FoldEmpty> {
  using FoldEmptyBase::FoldEmptyBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step) || failed(Folder(*step).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
