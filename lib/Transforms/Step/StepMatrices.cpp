//===- StepMatrices.cpp - optimizers of matrices --------------------------===//
//
// Three parts: a launch that advances the states and gives the direction of each element, which
// `partition` applies to slices; launches that compute the step of the whole matrix and advance the
// states that have shapes of their own; and the update, which applies the step element by element.
//
//===----------------------------------------------------------------------===//

#include "StepUpdates.h"

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Optimizers/Matrices.h"
#include "zero/Transforms/Step/Directions.h"

using namespace mlir;

namespace zero {

StepUpdates::MatrixKernels &StepUpdates::matrixKernelsFor(unsigned group, const UpdateForm &form) {
  auto made = llvm::find_if(matrixKernels, [&](const MatrixKernels &kernels) {
    return kernels.group == group && kernels.form == form;
  });
  if (made != matrixKernels.end())
    return *made;
  std::string name = "direction";
  if (!matrixKernels.empty())
    name += "_" + std::to_string(matrixKernels.size());
  name = freeName(symbols, name);
  matrixKernels.push_back(
      {group, form, buildDirectionKernel(module, groups.optimizer(group), form, name)});
  return matrixKernels.back();
}

/// Adds the launch that computes the direction of `gradient` and advances `states`. Without states
/// it changes nothing, and what whole states read exists also in steps that are skipped.
Value StepUpdates::addDirection(GradientOp gradient, ArrayRef<FlatSymbolRefAttr> states,
                                unsigned group, const UpdateForm &form,
                                const GradientFactor &factor) {
  SmallVector<Value> operands;
  if (form.scaled)
    operands.push_back(factor.factor);
  llvm::append_range(operands, scalarsOf(group));
  const Value condition = states.empty() ? Value() : Value(factor.counts);
  return launchDirection(
      builder, symbols,
      {gradient, states, matrixKernelsFor(group, form).direction, operands, condition, collecting});
}

/// Adds the states of `parameter` that its owner has whole; reads them.
SmallVector<ReadOp> StepUpdates::addWholeStates(ParameterOp parameter, const Optimizer &optimizer) {
  SmallVector<ReadOp> reads;
  OpBuilder after(parameter->getContext());
  after.setInsertionPointAfter(parameter);
  for (const TensorState &state : optimizer.tensorStates(matrices.shapeOf(parameter))) {
    auto type = RankedTensorType::get(state.shape, builder.getF32Type());
    StateOp op = addState(after, parameter, state.suffix, type, 0.0);
    op->setAttr(kWholeAttr, builder.getUnitAttr());
    reads.push_back(inEpilogue(ReadOp::create(builder, parameter.getLoc(), type,
                                              FlatSymbolRefAttr::get(op.getSymNameAttr()))));
  }
  return reads;
}

/// Writes what follows the states that were read, if the step counts.
void StepUpdates::writeWholeStates(ArrayRef<ReadOp> reads, ValueRange next,
                                   const GradientFactor &factor) {
  for (auto [read, value] : llvm::zip(reads, next))
    inEpilogue(WriteOp::create(builder, value.getLoc(), ReadOp(read).getSymbolAttr(), value,
                               factor.counts));
}

Value StepUpdates::addMatrixStep(GradientOp gradient, ParameterOp parameter,
                                 ArrayRef<FlatSymbolRefAttr> states, unsigned group,
                                 const UpdateForm &form, const GradientFactor &factor) {
  const Optimizer &optimizer = groups.optimizer(group);
  const SmallVector<int64_t> shape = this->matrices.shapeOf(parameter);
  const bool hasWholeStates = !optimizer.tensorStates(shape).empty();
  if (!collecting)
    collecting = buildCollectingKernels(module, symbols, hasWholeStates && factor.counts);
  Value direction = gatherTensor(parameter, addDirection(gradient, states, group, form, factor));
  const auto whole = cast<RankedTensorType>(direction.getType());
  const SmallVector<ReadOp> reads = addWholeStates(parameter, optimizer);
  MatrixBuilder matrices(
      module, builder, gradient.getLoc(), matrixKernelsFor(group, form).ofMatrices,
      ("matrix" + Twine(group) + "_").str(), (gradient.getParameter() + ".step").str(),
      this->matrices.orientationOf(parameter));
  SmallVector<Value> results;
  optimizer.buildMatrixStep(
      matrices, reshapeInEpilogue(builder, direction, whole.clone(shape)),
      llvm::map_to_vector(reads, [](ReadOp read) -> Value { return read.getResult(); }), results);
  parameter->setAttr(kStepOperationsAttr, builder.getF64FloatAttr(matrices.countOperations()));
  writeWholeStates(reads, results, factor);
  Value step = reshapeInEpilogue(builder, results.back(), whole);
  return scaleOutputs(parameter, takeOwnShard(parameter, step), group);
}

/// `step`, changed so that the update also scales outputs whose scores are above the limit.
Value StepUpdates::scaleOutputs(ParameterOp parameter, Value step, unsigned group) {
  const auto factors = scores ? scores->factorsOf(parameter) : std::nullopt;
  if (!factors)
    return step;
  const Optimizer &optimizer = groups.optimizer(group);
  RankedTensorType type = parameter.getTensorType();
  func::FuncOp &kernel = scalingKernels[{type, group * 2 + factors->dim}];
  if (!kernel)
    kernel = buildScaledStepKernel(
        module, optimizer, type, factors->dim,
        freeName(symbols, "scaled_step_" + std::to_string(scalingKernels.size() - 1)));
  Value stored = inEpilogue(ReadOp::create(builder, parameter.getLoc(), type,
                                           FlatSymbolRefAttr::get(parameter.getSymNameAttr())));
  SmallVector<Value> inputs{step, stored, factors->values};
  llvm::append_range(inputs, scalarsOf(group));
  auto launch =
      inEpilogue(LaunchOp::create(builder, parameter.getLoc(), TypeRange(step.getType()),
                                  FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs));
  launch->setAttr(kNameAttr, builder.getStringAttr(parameter.getSymName() + ".scale"));
  return launch.getResult(0);
}

} // namespace zero
