//===- Directions.cpp - what optimizers of matrices begin with ------------===//

#include "zero/Transforms/Step/Directions.h"

#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Optimizers/Kernel.h"
#include "zero/Transforms/Step/StepGradients.h"

using namespace mlir;

namespace zero {

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

ArrayAttr buildCollectingKernels(ModuleOp module, const SymbolTable &symbols, bool haveConditions) {
  SmallVector<Attribute> made{
      buildSetKernel(module, freeName(symbols, "clear_steps"), false, false),
      buildSetKernel(module, freeName(symbols, "take_steps"), true, false)};
  if (haveConditions)
    made.push_back(buildSetKernel(module, freeName(symbols, "take_if_applied"), true, true));
  return Builder(module.getContext()).getArrayAttr(made);
}

Value launchDirection(OpBuilder &builder, const SymbolTable &symbols, const Direction &direction) {
  GradientOp gradient = direction.gradient;
  func::FuncOp kernel = direction.kernel;
  Location loc = gradient.getLoc();
  SmallVector<Value> stored;
  for (FlatSymbolRefAttr state : direction.states) {
    auto type = symbols.lookup<StateOp>(state.getAttr()).getTensorType();
    stored.push_back(inEpilogue(ReadOp::create(builder, loc, type, state)));
  }
  SmallVector<Value> inputs(stored);
  inputs.push_back(gradient.getResult());
  for (auto [input, type] : llvm::zip(inputs, kernel.getArgumentTypes()))
    input = inRows(builder, input, cast<ShapedType>(type));
  SmallVector<Type> results(ValueRange(inputs).drop_back().getTypes());
  results.push_back(cast<RankedTensorType>(inputs.back().getType()).clone(builder.getF32Type()));
  llvm::append_range(inputs, direction.scalars);
  auto launch = inEpilogue(LaunchOp::create(builder, loc, results,
                                            FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs,
                                            direction.condition));
  launch->setAttr(kNameAttr, builder.getStringAttr(gradient.getParameter() + ".direction"));
  launch->setAttr(kDirectionAttr, direction.collecting);
  for (auto [symbol, before, next] : llvm::zip(direction.states, stored, launch.getResults())) {
    auto type = cast<RankedTensorType>(before.getType());
    inEpilogue(WriteOp::create(builder, loc, symbol, reshapeInEpilogue(builder, next, type)));
  }
  auto whole = cast<RankedTensorType>(gradient.getResult().getType());
  return reshapeInEpilogue(builder, launch.getResults().back(), whole.clone(builder.getF32Type()));
}

} // namespace zero
