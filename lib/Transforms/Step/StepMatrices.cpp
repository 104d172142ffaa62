//===- StepMatrices.cpp - optimizers of matrices --------------------------===//
//
// Three parts: a launch that advances the states and gives the direction of each element, which
// `partition` applies to slices; launches that compute the step of the whole matrix; and the
// update, which applies the step element by element.
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

/// The kernel `name` that sets a list in place to -0, or to the elements of another list.
static Attribute buildSetKernel(ModuleOp module, StringRef name, bool isCopy) {
  auto list = RankedTensorType::get({ShapedType::kDynamic}, Float32Type::get(module.getContext()));
  const SmallVector<Type> inputs(isCopy ? 2 : 1, list);
  func::FuncOp kernel = startKernel(module, name, inputs, list, 0, 1);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  auto set = [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &results) {
    results.push_back(isCopy ? values[1]
                             : Formula(b, kernel.getLoc()).constant(-0.0, b.getF32Type()));
  };
  func::ReturnOp::create(builder, kernel.getLoc(),
                         updateElements(builder, kernel.getLoc(), 1, arguments.take_front(),
                                        arguments.drop_front(), set));
  return FlatSymbolRefAttr::get(kernel.getSymNameAttr());
}

ArrayAttr StepUpdates::collectingKernels() {
  if (!collecting)
    collecting =
        builder.getArrayAttr({buildSetKernel(module, freeName(symbols, "clear_steps"), false),
                              buildSetKernel(module, freeName(symbols, "take_steps"), true)});
  return collecting;
}

/// Adds the launch that advances `states`; returns the direction.
Value StepUpdates::addDirection(GradientOp gradient, ArrayRef<FlatSymbolRefAttr> states,
                                func::FuncOp kernel, ValueRange kernelScalars,
                                const GradientFactor &factor) {
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
  llvm::append_range(inputs, kernelScalars);
  const SmallVector<Type> results(states.size() + 1, flat);
  auto launch = inEpilogue(LaunchOp::create(builder, loc, results,
                                            FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs,
                                            factor.counts));
  launch->setAttr(kNameAttr, builder.getStringAttr(gradient.getParameter() + ".direction"));
  launch->setAttr(kDirectionAttr, collectingKernels());
  for (auto [symbol, value] : llvm::zip(states, launch.getResults()))
    inEpilogue(WriteOp::create(builder, loc, symbol, reshape(builder, loc, value, shaped)));
  return reshape(builder, loc, launch.getResults().back(), shaped);
}

Value StepUpdates::addMatrixStep(GradientOp gradient, ArrayRef<FlatSymbolRefAttr> states,
                                 unsigned group, const UpdateForm &form,
                                 const GradientFactor &factor) {
  MatrixKernels &kernels = matrixKernelsFor(group, form);
  Value direction = addDirection(gradient, states, kernels.direction, scalarsOf(group), factor);
  MatrixBuilder matrices(module, builder, gradient.getLoc(), kernels.ofMatrices,
                         ("matrix" + Twine(group) + "_").str(),
                         (gradient.getParameter() + ".step").str());
  return groups.optimizer(group).buildMatrixStep(matrices, direction);
}

} // namespace zero
