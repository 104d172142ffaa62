//===- WidenState.cpp - store the state of 16-bit programs as f32 ---------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Transforms/Precision/HalfFloats.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_WIDENSTATE
#include "include/zero/Transforms/Program/Passes.h.inc"

static RankedTensorType widened(Type type) {
  return cast<RankedTensorType>(type).clone(Float32Type::get(type.getContext()));
}

static bool computesInHalf(Operation &op) {
  return llvm::any_of(op.getOperandTypes(), isHalfFloat) ||
         llvm::any_of(op.getResultTypes(), isHalfFloat);
}

/// Makes `value`, which comes from outside of the step, f32. What reads it reads it rounded.
static void widenSource(OpBuilder &builder, Value value, StringRef name) {
  Type narrow = getElementTypeOrSelf(value);
  if (!isHalfFloat(narrow))
    return;
  value.setType(widened(value.getType()));
  builder.setInsertionPointAfterValue(value);
  Value rounded = NodeBuilder(builder, value.getLoc(), name).cast(value, narrow);
  value.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}

/// Lets `op`, through which values leave the step, read f32.
static void widenOperands(OpBuilder &builder, Operation *op, StringRef name) {
  builder.setInsertionPoint(op);
  NodeBuilder nodes(builder, op->getLoc(), name);
  for (OpOperand &operand : op->getOpOperands())
    if (isHalfFloat(operand.get().getType()))
      operand.set(nodes.cast(operand.get(), builder.getF32Type()));
}

static void widenStep(func::FuncOp step) {
  OpBuilder builder(step.getContext());
  Block &body = step.getBody().front();
  for (BlockArgument argument : body.getArguments())
    widenSource(builder, argument, "input");
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (auto read = dyn_cast<ReadOp>(op))
      widenSource(builder, read.getResult(), read.getSymbol());
    else if (auto write = dyn_cast<WriteOp>(op))
      widenOperands(builder, write, write.getSymbol());
    else if (auto gradient = dyn_cast<GradientOp>(op))
      widenOperands(builder, gradient, gradient.getParameter());
    else if (isa<func::ReturnOp>(op))
      widenOperands(builder, &op, "result");
    if (auto gradient = dyn_cast<GradientOp>(op))
      gradient.getResult().setType(cast<RankedTensorType>(gradient.getLocal().getType()));
  }
  step.setFunctionType(FunctionType::get(step.getContext(), body.getArgumentTypes(),
                                         body.getTerminator()->getOperandTypes()));
}

namespace {
struct WidenState : impl::WidenStateBase<WidenState> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    if (llvm::none_of(step->getBody().front(), computesInHalf))
      return;
    for (auto state : module.getOps<StateOp>())
      if (isHalfFloat(state.getTensorType()))
        state.setType(widened(state.getTensorType()));
    for (auto parameter : module.getOps<ParameterOp>())
      if (isHalfFloat(parameter.getTensorType()))
        parameter.setType(widened(parameter.getTensorType()));
    widenStep(*step);
    module->setAttr(kOwnTypesAttr, UnitAttr::get(module.getContext()));
    remark::passed(step->getLoc(), remark::RemarkOpts::name("own-types").category("precision"))
        << "the program computes in 16 bits where its types say so; its state is f32";
  }
};
} // namespace
} // namespace zero
