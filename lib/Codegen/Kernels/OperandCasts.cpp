//===- OperandCasts.cpp - convert operands of library calls ---------------===//

#include "OperandCasts.h"
#include "zero/Codegen/Costs.h"
#include "zero/Codegen/Passes.h"

using namespace mlir;

namespace zero {

SmallVector<Type> operandTypesOnGpu(ArrayRef<Type> types) {
  SmallVector<Type> wanted(types);
  const Type result = types.back();
  if (types[0] != types[1] || (types[0] != result && !result.isF32()))
    wanted[0] = wanted[1] = result;
  for (Type &added : MutableArrayRef(wanted).drop_front(2))
    added = result;
  return wanted;
}

/// `value` with the elements of `to`.
static Value converted(OpBuilder &builder, Value value, RankedTensorType to) {
  Location loc = value.getLoc();
  const bool widens =
      getElementTypeOrSelf(value).getIntOrFloatBitWidth() < to.getElementTypeBitWidth();
  Value empty = tensor::EmptyOp::create(builder, loc, to, ValueRange());
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(to.getRank()));
  SmallVector<utils::IteratorType> loops(to.getRank(), utils::IteratorType::parallel);
  auto convert = [&](OpBuilder &inner, Location loc, ValueRange elements) {
    Value element = elements.front();
    if (widens)
      element = arith::ExtFOp::create(inner, loc, to.getElementType(), element);
    else
      element = arith::TruncFOp::create(inner, loc, to.getElementType(), element);
    linalg::YieldOp::create(inner, loc, element);
  };
  return linalg::GenericOp::create(builder, loc, TypeRange(to), value, empty, maps, loops, convert)
      .getResult(0);
}

void OperandCasts::change(func::FuncOp kernel, unsigned index, Type element) {
  BlockArgument argument = kernel.getArgument(index);
  auto before = cast<RankedTensorType>(argument.getType());
  argument.setType(before.clone(element));
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value same = converted(builder, argument, before);
  argument.replaceAllUsesExcept(same, same.getDefiningOp());
  kernel.setFunctionType(
      builder.getFunctionType(kernel.getBody().getArgumentTypes(), kernel.getResultTypes()));
}

/// The kernel that converts a tensor of type `from` to `to`.
func::FuncOp OperandCasts::kernelFor(RankedTensorType from, RankedTensorType to) {
  func::FuncOp &kernel = kernels[{from, to}];
  if (kernel)
    return kernel;
  OpBuilder builder(module.getContext());
  kernel =
      func::FuncOp::create(builder, module.getLoc(), "cast", builder.getFunctionType(from, to));
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, builder.getUnitAttr());
  SymbolTable(module).insert(kernel);
  builder.setInsertionPointToEnd(kernel.addEntryBlock());
  func::ReturnOp::create(builder, module.getLoc(), converted(builder, kernel.getArgument(0), to));
  const KernelCosts costs = computeCosts(kernel);
  kernel->setAttr(kFlopsAttr, builder.getI64IntegerAttr(costs.flops));
  kernel->setAttr(kBytesAttr, builder.getI64IntegerAttr(costs.bytes));
  return kernel;
}

void OperandCasts::convertInputs(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
  OpBuilder builder(launch);
  for (OpOperand &input : launch.getInputsMutable()) {
    auto from = cast<RankedTensorType>(input.get().getType());
    auto to = cast<RankedTensorType>(kernel.getArgument(input.getOperandNumber()).getType());
    if (from == to)
      continue;
    auto symbol = FlatSymbolRefAttr::get(kernelFor(from, to).getSymNameAttr());
    auto conversion = LaunchOp::create(builder, launch.getLoc(), TypeRange(to), symbol, input.get(),
                                       launch.getCondition());
    conversion->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
    input.set(conversion.getResult(0));
  }
}

} // namespace zero
