//===- StepTensors.cpp - optimizers that update full tensors --------------===//
//
// These optimizers compute the step of each parameter from its full gradient. The update then
// applies the step element by element. `partition` launches the step on the owner of the tensor, or
// makes the gradient available on every rank.
//
//===----------------------------------------------------------------------===//

#include "StepUpdates.h"

#include "zero/Transforms/Step/Directions.h"

#include "dialects/Zero/UpdateAttrs.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {

/// The sum of squares of `parameter` as it is stored.
Value StepUpdates::addSquareSum(ParameterOp parameter) {
  RankedTensorType type = parameter.getTensorType();
  ArrayAttr &own = squareKernels[type.getElementType()];
  if (!own)
    own = buildSquareSumKernels(module, "parameter", type.getElementType());
  Location loc = parameter.getLoc();
  auto symbol = FlatSymbolRefAttr::get(parameter.getSymNameAttr());
  Value stored = inEpilogue(ReadOp::create(builder, loc, type, symbol));
  return inEpilogue(SquareSumOp::create(
      builder, loc, RankedTensorType::get({}, builder.getF64Type()), stored, own));
}

/// Adds the states of `parameter` and the launch that computes its step.
Value StepUpdates::addTensorStep(GradientOp gradient, ParameterOp parameter, unsigned group,
                                 const UpdateForm &form, const GradientFactor &factor) {
  const Optimizer &optimizer = groups.optimizer(group);
  Location loc = gradient.getLoc();
  auto type = parameter.getTensorType().clone(builder.getF32Type());
  auto made = llvm::find_if(tensorKernels, [&](const TensorKernel &kernel) {
    return kernel.group == group && kernel.form == form && kernel.type == type;
  });
  if (made == tensorKernels.end()) {
    std::string name = "tensor_step_" + std::to_string(tensorKernels.size());
    tensorKernels.push_back(
        {group, form, type,
         buildTensorKernel(module, optimizer, form, type.getShape(), freeName(symbols, name))});
    made = std::prev(tensorKernels.end());
  }
  if (!collecting)
    collecting = buildCollectingKernels(module, symbols, bool(factor.counts));
  const SmallVector<ReadOp> reads = addWholeStates(parameter, optimizer);
  SmallVector<Value> inputs{gradient.getResult()};
  for (ReadOp read : reads)
    inputs.push_back(read.getResult());
  inputs.push_back(addSquareSum(parameter));
  if (factor.factor)
    inputs.push_back(factor.factor);
  llvm::append_range(inputs, scalarsOf(group));
  func::FuncOp kernel = made->symbol;
  auto launch = inEpilogue(LaunchOp::create(builder, loc, kernel.getFunctionType().getResults(),
                                            FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs,
                                            factor.counts));
  launch->setAttr(kNameAttr, builder.getStringAttr(parameter.getSymName() + ".step"));
  launch->setAttr(kTensorStepAttr, collecting);
  parameter->setAttr(kStepOperationsAttr, builder.getF64FloatAttr(countOperations(kernel)));
  writeWholeStates(reads, launch.getResults(), factor);
  return launch.getResults().back();
}

} // namespace zero
