//===- StepGuard.cpp - skip steps that would do harm ----------------------===//

#include "StepGuard.h"

#include "dialects/Zero/EmittedAttrs.h"
#include "zero/Analysis/StepFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

/// The weight of a step's loss in the running mean that the next losses are compared with.
static constexpr double kNewest = 0.1;

static constexpr StringLiteral kMeanLoss = "guard.mean_loss";

/// (whether gradients are finite i1, their norm f32, [loss f32, mean of losses f32]) -> (whether
/// the step is applied i1, [the next mean f32]). The mean is 0 before the first step.
static func::FuncOp buildGuard(ModuleOp module, const StepGuardOptions &options) {
  MLIRContext *context = module.getContext();
  auto scalar = RankedTensorType::get({}, Float32Type::get(context));
  auto flag = scalar.clone(IntegerType::get(context, 1));
  SmallVector<Type> inputs{flag, scalar}, results{flag};
  if (options.mostLossRatio > 0) {
    inputs.append(2, scalar);
    results.push_back(scalar);
  }
  func::FuncOp kernel =
      startKernel(module, freeName(SymbolTable(module), "step_guard"), inputs, results);
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Formula f(builder, loc);
  auto isAtMost = [&](Value value, Value limit) -> Value {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, value, limit);
  };
  Value applied = f.element(kernel.getArgument(0)), norm = f.element(kernel.getArgument(1));
  Type f32 = norm.getType();
  if (options.mostNorm > 0)
    applied = arith::AndIOp::create(builder, loc, applied,
                                    isAtMost(norm, f.constant(options.mostNorm, f32)));
  SmallVector<Value> returned;
  if (options.mostLossRatio > 0) {
    Value loss = f.element(kernel.getArgument(2)), mean = f.element(kernel.getArgument(3));
    Value isFirst = f.isZero(mean);
    Value isLow = isAtMost(loss, f.mul(mean, f.constant(options.mostLossRatio, f32)));
    applied = arith::AndIOp::create(builder, loc, applied,
                                    arith::OrIOp::create(builder, loc, isFirst, isLow));
    Value next = f.fma(f.constant(kNewest, f32), f.sub(loss, mean), mean);
    returned.push_back(f.tensor(f.select(isFirst, loss, next)));
  }
  returned.insert(returned.begin(), f.tensor(applied));
  func::ReturnOp::create(builder, loc, returned);
  return kernel;
}

/// The mean loss that the step returns.
static Value lossOf(func::FuncOp step) {
  Operation *terminator = step.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
    if (resultBinding(step, index) == "loss")
      return value;
  llvm_unreachable("a step that is trained returns its loss");
}

/// Adds the state that has the mean of losses, and reads it.
static Value readMeanLoss(func::FuncOp step, OpBuilder &builder) {
  OpBuilder atTop = OpBuilder::atBlockBegin(step->getParentOfType<ModuleOp>().getBody());
  auto type = RankedTensorType::get({}, builder.getF32Type());
  auto state = StateOp::create(atTop, step.getLoc(), Role::Optimizer, kMeanLoss,
                               FlatSymbolRefAttr(), type, DataAttr(), builder.getF64FloatAttr(0));
  state->setAttr(kLateAttr,
                 builder.getF64FloatAttr(0)); // a run that resumes without it begins anew
  return inEpilogue(
      ReadOp::create(builder, step.getLoc(), type, FlatSymbolRefAttr::get(state.getSymNameAttr())));
}

TypedValue<RankedTensorType> addStepGuard(func::FuncOp step, OpBuilder &builder, Value norm,
                                          TypedValue<RankedTensorType> isFinite,
                                          const StepGuardOptions &options) {
  Location loc = step.getLoc();
  SmallVector<Value> inputs{isFinite, norm};
  if (options.mostLossRatio > 0)
    inputs.append({lossOf(step), readMeanLoss(step, builder)});
  func::FuncOp kernel = buildGuard(step->getParentOfType<ModuleOp>(), options);
  auto launch =
      inEpilogue(LaunchOp::create(builder, loc, kernel.getFunctionType().getResults(),
                                  FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs));
  launch->setAttr(kNameAttr, kernel.getSymNameAttr());
  auto applied = cast<TypedValue<RankedTensorType>>(launch.getResult(0));
  if (options.mostLossRatio > 0)
    inEpilogue(WriteOp::create(builder, loc,
                               FlatSymbolRefAttr::get(builder.getContext(), kMeanLoss),
                               launch.getResult(1), applied));
  return applied;
}

} // namespace zero
