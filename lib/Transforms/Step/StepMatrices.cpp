//===- StepMatrices.cpp - optimizers of matrices --------------------------===//
//
// Three parts: a launch that advances the states and gives the direction of each element, which
// `partition` applies to slices; launches that compute the step of the whole matrix and advance the
// states that have shapes of their own; and the update, which applies the step element by element.
//
//===----------------------------------------------------------------------===//

#include "StepUpdates.h"

#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Optimizers/Kernel.h"
#include "zero/Optimizers/Matrices.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {

/// `value` in one dimension, or such a value in the shape of `type`.
static Value reshape(OpBuilder &builder, Location loc, Value value, RankedTensorType type) {
  auto own = cast<RankedTensorType>(value.getType());
  if (own == type)
    return value;
  const bool collapses = own.getRank() > type.getRank();
  SmallVector<ReassociationIndices> all{
      llvm::to_vector<2>(llvm::seq<int64_t>(std::max(own.getRank(), type.getRank())))};
  if (collapses)
    return inEpilogue(tensor::CollapseShapeOp::create(builder, loc, type, value, all)).getResult();
  return inEpilogue(tensor::ExpandShapeOp::create(builder, loc, type, value, all)).getResult();
}

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

/// The kernel `name` that sets a list in place to -0, or to the elements of another list, with
/// `hasCondition` only if its last operand is true.
static Attribute buildSetKernel(ModuleOp module, StringRef name, bool isCopy, bool hasCondition) {
  MLIRContext *context = module.getContext();
  auto list = RankedTensorType::get({ShapedType::kDynamic}, Float32Type::get(context));
  SmallVector<Type> inputs(isCopy ? 2 : 1, list);
  if (hasCondition)
    inputs.push_back(RankedTensorType::get({}, IntegerType::get(context, 1)));
  func::FuncOp kernel = startKernel(module, name, inputs, list, 0, 1);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  auto set = [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &results) {
    Formula f(b, kernel.getLoc());
    Value next = isCopy ? values[1] : f.constant(-0.0, b.getF32Type());
    results.push_back(hasCondition ? f.select(values.back(), next, values.front()) : next);
  };
  func::ReturnOp::create(builder, kernel.getLoc(),
                         updateElements(builder, kernel.getLoc(), 1, arguments.take_front(),
                                        arguments.drop_front(), set));
  return FlatSymbolRefAttr::get(kernel.getSymNameAttr());
}

ArrayAttr StepUpdates::collectingKernels(bool haveConditions) {
  if (collecting)
    return collecting;
  SmallVector<Attribute> made{
      buildSetKernel(module, freeName(symbols, "clear_steps"), false, false),
      buildSetKernel(module, freeName(symbols, "take_steps"), true, false)};
  if (haveConditions)
    made.push_back(buildSetKernel(module, freeName(symbols, "take_if_applied"), true, true));
  return collecting = builder.getArrayAttr(made);
}

/// Adds the launch that advances `states`; returns the direction.
Value StepUpdates::addDirection(GradientOp gradient, ArrayRef<FlatSymbolRefAttr> states,
                                func::FuncOp kernel, unsigned group, const GradientFactor &factor) {
  Location loc = gradient.getLoc();
  auto whole = cast<RankedTensorType>(gradient.getResult().getType());
  auto flat = RankedTensorType::get({whole.getNumElements()}, builder.getF32Type());
  auto shaped = whole.clone(builder.getF32Type());
  SmallVector<Value> inputs;
  for (FlatSymbolRefAttr state : states)
    inputs.push_back(reshape(
        builder, loc, inEpilogue(ReadOp::create(builder, loc, shaped, state)).getResult(), flat));
  inputs.push_back(reshape(builder, loc, gradient.getResult(), flat.clone(whole.getElementType())));
  if (factor.factor)
    inputs.push_back(factor.factor);
  llvm::append_range(inputs, scalarsOf(group));
  const SmallVector<Type> results(states.size() + 1, flat);
  // Without states it changes nothing, and what whole states read exists also in steps that are
  // skipped.
  auto launch = inEpilogue(
      LaunchOp::create(builder, loc, results, FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                       inputs, states.empty() ? TypedValue<RankedTensorType>() : factor.counts));
  launch->setAttr(kNameAttr, builder.getStringAttr(gradient.getParameter() + ".direction"));
  const bool hasWholeStates = !groups.optimizer(group).tensorStates(whole.getShape()).empty();
  launch->setAttr(kDirectionAttr, collectingKernels(hasWholeStates && factor.counts));
  for (auto [symbol, value] : llvm::zip(states, launch.getResults()))
    inEpilogue(WriteOp::create(builder, loc, symbol, reshape(builder, loc, value, shaped)));
  return reshape(builder, loc, launch.getResults().back(), shaped);
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

Value StepUpdates::addMatrixStep(GradientOp gradient, ParameterOp parameter,
                                 ArrayRef<FlatSymbolRefAttr> states, unsigned group,
                                 const UpdateForm &form, const GradientFactor &factor) {
  MatrixKernels &kernels = matrixKernelsFor(group, form);
  const Optimizer &optimizer = groups.optimizer(group);
  Value direction = addDirection(gradient, states, kernels.direction, group, factor);
  const SmallVector<ReadOp> reads = addWholeStates(parameter, optimizer);
  MatrixBuilder matrices(module, builder, gradient.getLoc(), kernels.ofMatrices,
                         ("matrix" + Twine(group) + "_").str(),
                         (gradient.getParameter() + ".step").str());
  SmallVector<Value> results;
  optimizer.buildMatrixStep(
      matrices, direction,
      llvm::map_to_vector(reads, [](ReadOp read) -> Value { return read.getResult(); }), results);
  parameter->setAttr(kStepOperationsAttr, builder.getF64FloatAttr(matrices.countOperations()));
  for (auto [read, next] : llvm::zip(reads, results))
    inEpilogue(WriteOp::create(builder, gradient.getLoc(), ReadOp(read).getSymbolAttr(), next,
                               factor.counts));
  return results.back();
}

} // namespace zero
