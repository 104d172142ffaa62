//===- Kernel.cpp - builders of kernels outside the op table --------------===//

#include "zero/Optimizers/Kernel.h"

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

func::FuncOp startKernel(ModuleOp module, StringRef name, TypeRange inputs, TypeRange results,
                         unsigned firstInplace, unsigned numInplace) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto type = builder.getFunctionType(inputs, results);
  auto kernel = func::FuncOp::create(builder, module.getLoc(), name, type);
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, builder.getUnitAttr());
  for (unsigned i = 0; i < numInplace; ++i)
    kernel.setArgAttr(firstInplace + i, kInplaceAttr, builder.getI64IntegerAttr(i));
  kernel.addEntryBlock();
  return kernel;
}

AffineMap broadcastLast(Value operand, unsigned rank) {
  MLIRContext *context = operand.getContext();
  unsigned own = cast<RankedTensorType>(operand.getType()).getRank();
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < own; ++i)
    dims.push_back(getAffineDimExpr(i, context));
  return AffineMap::get(rank, 0, dims, context);
}

SmallVector<Value>
updateElements(OpBuilder &builder, Location loc, unsigned rank, ValueRange outs, ValueRange ins,
               llvm::function_ref<void(OpBuilder &, ValueRange, SmallVectorImpl<Value> &)> body) {
  SmallVector<AffineMap> maps;
  for (ValueRange operands : {ins, outs})
    for (Value operand : operands)
      maps.push_back(broadcastLast(operand, rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, loc, outs.getTypes(), ins, outs, maps, loops,
                                [&](OpBuilder &b, Location, ValueRange values) {
                                  SmallVector<Value> operands(values.drop_front(ins.size())),
                                      results;
                                  llvm::append_range(operands, values.take_front(ins.size()));
                                  body(b, operands, results);
                                  linalg::YieldOp::create(b, loc, results);
                                });
  return SmallVector<Value>(generic.getResults());
}

Value sumSquaresOfBlocks(OpBuilder &builder, Location loc, ValueRange ins,
                         llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto type = RankedTensorType::get({ShapedType::kDynamic}, builder.getF32Type());
  Value blocks = tensor::DimOp::create(builder, loc, ins.front(), 0);
  Value empty = tensor::EmptyOp::create(builder, loc, type, blocks);
  Value zero = Formula(builder, loc).constant(0, builder.getF32Type());
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  SmallVector<AffineMap> maps;
  for (Value operand : ins)
    maps.push_back(broadcastLast(operand, 2));
  maps.push_back(broadcastLast(init, 2));
  utils::IteratorType loops[] = {utils::IteratorType::parallel, utils::IteratorType::reduction};
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(type), ins, init, maps, loops,
      [&](OpBuilder &b, Location l, ValueRange values) {
        Formula f(b, l);
        Value made = f.cast(body(b, values.drop_back()), b.getF32Type());
        linalg::YieldOp::create(b, l, f.unorderedAdd(values.back(), f.mul(made, made)));
      });
  return generic.getResult(0);
}

func::FuncOp buildRatioKernel(ModuleOp module, StringRef name,
                              llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  MLIRContext *context = module.getContext();
  auto sum = RankedTensorType::get({}, Float64Type::get(context));
  auto blocks = RankedTensorType::get({ShapedType::kDynamic}, Float32Type::get(context));
  func::FuncOp kernel = startKernel(module, name, {sum, sum, blocks}, TypeRange(blocks));
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Value size = tensor::DimOp::create(builder, loc, kernel.getArgument(2), 0);
  Value empty = tensor::EmptyOp::create(builder, loc, blocks, size);
  AffineMap scalar = AffineMap::get(1, 0, context);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(blocks), kernel.getArguments().take_front(2), empty,
      ArrayRef<AffineMap>{scalar, scalar, builder.getMultiDimIdentityMap(1)},
      utils::IteratorType::parallel, [&](OpBuilder &b, Location l, ValueRange values) {
        linalg::YieldOp::create(b, l, body(b, values.take_front(2)));
      });
  func::ReturnOp::create(builder, loc, generic.getResults());
  return kernel;
}

Value Formula::constant(double value, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
}
Value Formula::add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value Formula::unorderedAdd(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b, arith::FastMathFlags::reassoc);
}
Value Formula::sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value Formula::mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value Formula::div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value Formula::min(Value a, Value b) { return arith::MinimumFOp::create(builder, loc, a, b); }
Value Formula::max(Value a, Value b) { return arith::MaximumFOp::create(builder, loc, a, b); }
Value Formula::sqrt(Value a) { return math::SqrtOp::create(builder, loc, a); }
Value Formula::fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
Value Formula::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value Formula::isZero(Value a) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a,
                               constant(0, a.getType()));
}

Value Formula::isOnDiagonal(unsigned rank) {
  Value row = linalg::IndexOp::create(builder, loc, rank - 2);
  Value column = linalg::IndexOp::create(builder, loc, rank - 1);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, row, column);
}

Value Formula::cast(Value a, Type type) {
  unsigned from = a.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return a;
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, a);
  return arith::TruncFOp::create(builder, loc, type, a);
}

Value Formula::element(Value tensor) {
  return tensor::ExtractOp::create(builder, loc, tensor, ValueRange());
}

Value Formula::tensor(Value element) {
  auto type = RankedTensorType::get({}, element.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  return tensor::InsertOp::create(builder, loc, element, empty, ValueRange());
}

} // namespace zero
