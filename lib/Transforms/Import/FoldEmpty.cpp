//===- FoldEmpty.cpp - fold nodes on tensors without elements -------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_FOLDEMPTY
#include "include/zero/Transforms/Import/Passes.h.inc"

static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

/// Whether `node` has an operand without elements among its data. Integers are mostly shapes, axes
/// and indices, which say by being empty that there is none: they count where the operator has a
/// rule for them.
static bool readsEmpty(onnx::NodeOp node) {
  const ops::OpDef *def = ops::lookup(node);
  return llvm::any_of(node->getOpOperands(), [&](OpOperand &use) {
    return isEmpty(use.get()) && ops::roleOf(use) != ops::OperandRole::Setting &&
           (isa<FloatType>(getElementTypeOrSelf(use.get())) || (def && def->withoutEmpty));
  });
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
    const ops::OpDef *def = ops::lookup(node);
    SmallVector<Value> results;
    if (def && def->withoutEmpty && failed(def->withoutEmpty(node, nodes, results)))
      return failure();
    if (results.empty())
      return node.emitError() << node.describe()
                              << " reads a tensor without elements: expected a product, a sum, a "
                                 "concatenation, a scatter or a Pad with a constant; leave the "
                                 "tensor out of the model";
    node->replaceAllUsesWith(results);
    node.erase();
    return success();
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
