//===- StepMatrices.cpp - optimizers of matrices --------------------------===//
//
// Three parts: a launch that advances the states and gives the direction of each element, which
// `partition` applies to slices; launches that compute the step of the whole matrix and advance the
// states that have shapes of their own; and the update, which applies the step element by element.
//
//===----------------------------------------------------------------------===//

#include "StepUpdates.h"

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

/// Adds the states of `parameter` that its owner has whole; reads them.
SmallVector<ReadOp> StepUpdates::addWholeStates(ParameterOp parameter, const Optimizer &optimizer) {
  SmallVector<ReadOp> reads;
  OpBuilder after(parameter->getContext());
  after.setInsertionPointAfter(parameter);
  for (const TensorState &state : optimizer.tensorStates(parameter.getTensorType().getShape())) {
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
  MatrixKernels &kernels = matrixKernelsFor(group, form);
  const Optimizer &optimizer = groups.optimizer(group);
  SmallVector<Value> operands;
  if (factor.factor)
    operands.push_back(factor.factor);
  llvm::append_range(operands, scalarsOf(group));
  const bool hasWholeStates = !optimizer.tensorStates(parameter.getTensorType().getShape()).empty();
  if (!collecting)
    collecting = buildCollectingKernels(module, symbols, hasWholeStates && factor.counts);
  // Without states the direction changes nothing, and what whole states read exists also in steps
  // that are skipped.
  const Value condition = states.empty() ? Value() : Value(factor.counts);
  Value direction = launchDirection(
      builder, symbols, {gradient, states, kernels.direction, operands, condition, collecting});
  const SmallVector<ReadOp> reads = addWholeStates(parameter, optimizer);
  MatrixBuilder matrices(
      module, builder, gradient.getLoc(), kernels.ofMatrices, ("matrix" + Twine(group) + "_").str(),
      (gradient.getParameter() + ".step").str(), this->matrices.orientationOf(parameter));
  SmallVector<Value> results;
  optimizer.buildMatrixStep(
      matrices, direction,
      llvm::map_to_vector(reads, [](ReadOp read) -> Value { return read.getResult(); }), results);
  parameter->setAttr(kStepOperationsAttr, builder.getF64FloatAttr(matrices.countOperations()));
  writeWholeStates(reads, results, factor);
  return results.back();
}

} // namespace zero
