//===- LooseOps.cpp - ops of a step that are no nodes ---------------------===//

#include "LooseOps.h"

#include "zero/Analysis/StepOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {

/// Whether `op` only makes room, or fills it with one value.
static bool isDestination(Operation *op) {
  return isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(op);
}

static bool isKernelDialect(Operation &op) {
  return isa_and_nonnull<linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect,
                         math::MathDialect>(op.getDialect());
}

bool isLooseOp(Operation &op) {
  if (!isKernelDialect(op) || op.hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op) ||
      isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) || op.getNumResults() == 0)
    return false;
  return llvm::all_of(op.getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  });
}

void separateDestinations(func::FuncOp step) {
  Block &body = step.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!isLooseOp(op))
      continue;
    OpBuilder builder(&op);
    for (OpOperand &operand : op.getOpOperands())
      if (Operation *made = operand.get().getDefiningOp(); isDestination(made))
        operand.set(builder.clone(*made)->getResult(0));
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isDestination(&op) && op.use_empty())
      op.erase();
}

bool isPartOfKernel(Operation &op) {
  return isDestination(&op) && llvm::all_of(op.getUsers(), [](Operation *user) {
           return isLooseOp(*user) && !isa<linalg::FillOp>(user);
         });
}

/// The values that `op` and its regions read.
static SmallVector<Value> readBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

/// Whether `made` moves into the kernel of an op that reads it.
static bool movesInside(Operation *made) {
  if (made->hasTrait<OpTrait::ConstantLike>() || isDestination(made))
    return true;
  return isKernelDialect(*made) && isPure(made) && made->getNumRegions() == 0 &&
         llvm::none_of(made->getResultTypes(), llvm::IsaPred<ShapedType>);
}

SmallVector<Operation *> collectKernel(Operation *op) {
  llvm::SetVector<Operation *> found;
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    Operation *next = open.pop_back_val();
    if (!found.insert(next))
      continue;
    for (Value value : readBy(next))
      if (Operation *made = value.getDefiningOp(); made && movesInside(made))
        open.push_back(made);
  }
  SmallVector<Operation *> kernel = found.takeVector();
  llvm::sort(kernel, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return kernel;
}

FailureOr<SmallVector<Value>> readByKernel(ArrayRef<Operation *> kernel) {
  llvm::SetVector<Value> outside;
  for (Operation *op : kernel)
    for (Value value : readBy(op)) {
      if (llvm::is_contained(kernel, value.getDefiningOp()))
        continue;
      if (!isa<RankedTensorType>(value.getType()))
        return kernel.back()->emitError()
               << "'" << kernel.back()->getName()
               << "' reads a scalar argument: expected a tensor of one element";
      outside.insert(value);
    }
  return SmallVector<Value>(outside.begin(), outside.end());
}

} // namespace zero
