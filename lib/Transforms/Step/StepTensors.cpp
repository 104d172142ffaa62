//===- StepTensors.cpp - optimizers that update full tensors --------------===//
//
// These optimizers compute the step of each parameter from its full gradient. The update then
// applies the step element by element. `partition` launches the step on the owner of the tensor, or
// makes the gradient available on every rank.
//
//===----------------------------------------------------------------------===//

#include "StepUpdates.h"

#include "zero/Transforms/Step/Directions.h"

#include "dialects/Zero/Mesh.h"
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

func::FuncOp StepUpdates::tensorKernelFor(unsigned group, const UpdateForm &form,
                                          RankedTensorType type) {
  for (const TensorKernel &made : tensorKernels)
    if (made.group == group && made.form == form && made.type == type)
      return made.symbol;
  const std::string name = freeName(symbols, "tensor_step_" + std::to_string(tensorKernels.size()));
  tensorKernels.push_back(
      {group, form, type,
       buildTensorKernel(module, groups.optimizer(group), form, type.getShape(), name)});
  return tensorKernels.back().symbol;
}

/// Adds the states of `parameter` and the launch that computes its step. Where ranks along tensor
/// have shards, what they gather is the gradient as an elementwise launch leaves it: scaled, in
/// f32.
Value StepUpdates::addTensorStep(GradientOp gradient, ParameterOp parameter, unsigned group,
                                 UpdateForm form, const GradientFactor &factor) {
  auto type =
      RankedTensorType::get(wholeShape(parameter, parameter.getTensorType()), builder.getF32Type());
  if (!collecting)
    collecting = buildCollectingKernels(module, symbols, bool(factor.counts));
  Value whole = gradient.getResult();
  if (shardOf(parameter)) {
    whole = gatherTensor(parameter, addDirection(gradient, {}, group, form, factor));
    form = {form.parameter, builder.getF32Type(), /*scaled=*/false};
  }
  const SmallVector<ReadOp> reads = addWholeStates(parameter, groups.optimizer(group));
  SmallVector<Value> inputs{whole};
  for (ReadOp read : reads)
    inputs.push_back(read.getResult());
  inputs.push_back(addSquareSum(parameter));
  if (form.scaled)
    inputs.push_back(factor.factor);
  llvm::append_range(inputs, scalarsOf(group));
  func::FuncOp kernel = tensorKernelFor(group, form, type);
  auto launch = inEpilogue(
      LaunchOp::create(builder, gradient.getLoc(), kernel.getFunctionType().getResults(),
                       FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs, factor.counts));
  launch->setAttr(kNameAttr, builder.getStringAttr(parameter.getSymName() + ".step"));
  launch->setAttr(kTensorStepAttr, collecting);
  parameter->setAttr(kStepOperationsAttr, builder.getF64FloatAttr(countOperations(kernel)));
  writeWholeStates(reads, launch.getResults(), factor);
  return takeOwnShard(parameter, launch.getResults().back());
}

} // namespace zero
