//===- TensorKernel.cpp - updates of full tensors as kernels --------------===//

#include "Optimizers.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

Value mapTensors(OpBuilder &builder, Location loc, ArrayRef<TensorOperand> operands,
                 RankedTensorType type, ElementBody body) {
  MLIRContext *context = builder.getContext();
  unsigned rank = type.getRank();
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  for (const TensorOperand &operand : operands) {
    SmallVector<AffineExpr> dims = llvm::map_to_vector(
        operand.dims, [&](unsigned dim) { return getAffineDimExpr(dim, context); });
    ins.push_back(operand.value);
    maps.push_back(AffineMap::get(rank, 0, dims, context));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  Value out = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, loc, TypeRange(type), ins, out, maps, loops,
                                [&](OpBuilder &b, Location l, ValueRange values) {
                                  Formula f(b, l);
                                  linalg::YieldOp::create(b, l, body(f, values.drop_back()));
                                });
  return generic.getResult(0);
}

Value sumTensor(OpBuilder &builder, Location loc, Value input, ArrayRef<unsigned> over,
                Type element, ElementBody body) {
  MLIRContext *context = builder.getContext();
  auto type = cast<RankedTensorType>(input.getType());
  unsigned rank = type.getRank();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (llvm::is_contained(over, dim)) {
      loops[dim] = utils::IteratorType::reduction;
      continue;
    }
    shape.push_back(type.getDimSize(dim));
    dims.push_back(getAffineDimExpr(dim, context));
  }
  auto result = RankedTensorType::get(shape, element);
  Value empty = tensor::EmptyOp::create(builder, loc, result, ValueRange());
  Value zero = Formula(builder, loc).constant(0, element);
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  AffineMap maps[] = {builder.getMultiDimIdentityMap(rank), AffineMap::get(rank, 0, dims, context)};
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(result), input, init, maps, loops,
      [&](OpBuilder &b, Location l, ValueRange values) {
        Formula f(b, l);
        linalg::YieldOp::create(b, l, f.unorderedAdd(values[1], body(f, values.front())));
      });
  return generic.getResult(0);
}

SmallVector<unsigned> allDims(Value tensor) {
  return llvm::to_vector(
      llvm::seq<unsigned>(0, cast<RankedTensorType>(tensor.getType()).getRank()));
}

func::FuncOp buildTensorKernel(ModuleOp module, const Optimizer &optimizer, const UpdateForm &form,
                               ArrayRef<int64_t> shape, StringRef name) {
  MLIRContext *context = module.getContext();
  Type f32 = Float32Type::get(context), f64 = Float64Type::get(context);
  auto scalar = RankedTensorType::get({}, f32), whole = RankedTensorType::get(shape, f32);
  SmallVector<Type> types{whole.clone(form.gradient)}, results;
  for (const TensorState &state : optimizer.tensorStates(shape))
    results.push_back(RankedTensorType::get(state.shape, f32));
  unsigned states = results.size();
  llvm::append_range(types, results);
  types.push_back(scalar.clone(f64));
  types.append(form.scaled + optimizer.numScalars(), scalar);
  results.push_back(whole);
  func::FuncOp kernel = startKernel(module, name, types, results);

  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  Formula f(builder, loc);
  SmallVector<Value> scalars = llvm::map_to_vector(arguments.drop_front(1 + states),
                                                   [&](Value value) { return f.element(value); });
  Value gradient = arguments.front();
  if (form.scaled || form.gradient != f32)
    gradient = mapTensors(builder, loc, {{gradient, allDims(gradient)}}, whole,
                          [&](Formula &f, ValueRange values) {
                            Value value = f.cast(values[0], f32);
                            return form.scaled ? f.mul(value, scalars[1]) : value;
                          });
  SmallVector<Value> returned;
  optimizer.buildTensorStep(builder, loc, gradient, arguments.slice(1, states), scalars.front(),
                            ArrayRef<Value>(scalars).drop_front(1 + form.scaled), returned);
  func::ReturnOp::create(builder, loc, returned);
  return kernel;
}

func::FuncOp buildScaledStepKernel(ModuleOp module, const Optimizer &optimizer,
                                   RankedTensorType parameter, unsigned dim, StringRef name) {
  Type f32 = Float32Type::get(module.getContext());
  RankedTensorType step = parameter.clone(f32);
  SmallVector<Type> types{step, parameter, step.clone(ArrayRef(step.getDimSize(dim)))};
  types.append(optimizer.numScalars(), RankedTensorType::get({}, f32));
  func::FuncOp kernel = startKernel(module, name, types, step);
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  Formula outside(builder, loc);
  auto scalars = llvm::map_to_vector(arguments.drop_front(3),
                                     [&](Value value) { return outside.element(value); });
  const SmallVector<unsigned> all = allDims(arguments[0]);
  Value scaled = mapTensors(
      builder, loc, {{arguments[0], all}, {arguments[1], all}, {arguments[2], {dim}}}, step,
      [&](Formula &f, ValueRange values) {
        return optimizer.buildScaledStep(f, f.cast(values[1], f32), values[0], values[2], scalars);
      });
  func::ReturnOp::create(builder, loc, scaled);
  return kernel;
}

double countOperations(func::FuncOp kernel) {
  double operations = 0;
  kernel.walk([&](linalg::GenericOp loops) {
    double iterations = 1;
    for (int64_t extent : loops.getStaticLoopRanges())
      iterations *= double(extent);
    for (Operation &op : loops.getRegion().front().without_terminator())
      operations += op.hasTrait<OpTrait::ConstantLike>() ? 0 : iterations;
  });
  return operations;
}

} // namespace zero
