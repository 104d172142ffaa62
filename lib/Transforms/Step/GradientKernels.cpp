//===- GradientKernels.cpp - kernels on gradients before updates ----------===//

#include "zero/Transforms/Step/GradientKernels.h"

#include "dialects/Zero/KernelAttrs.h"
#include "dialects/Zero/Zero.h"
#include "zero/Stored/Codec.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

static constexpr int64_t kAnySize = ShapedType::kDynamic;

func::FuncOp buildAccumulate(ModuleOp module, StringRef name, Type sum, Type summand, bool isFirst,
                             double factor) {
  auto sums = RankedTensorType::get({kAnySize}, sum), parts = sums.clone(summand);
  func::FuncOp kernel = startKernel(module, name, {sums, parts}, TypeRange(sums), 0, 1);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  auto generic = linalg::GenericOp::create(
      builder, kernel.getLoc(), TypeRange(sums), kernel.getArgument(1), kernel.getArgument(0),
      ArrayRef<AffineMap>{identity, identity}, utils::IteratorType::parallel,
      [&](OpBuilder &b, Location loc, ValueRange values) {
        Formula f(b, loc);
        Value value = f.cast(values[0], sum);
        if (factor != 1)
          value = f.mul(value, f.constant(factor, sum));
        linalg::YieldOp::create(b, loc, isFirst ? value : f.add(values[1], value));
      });
  func::ReturnOp::create(builder, kernel.getLoc(), generic.getResults());
  return kernel;
}

func::FuncOp buildRoundedAccumulate(ModuleOp module, StringRef name, Type summand, bool isFirst) {
  Builder types(module.getContext());
  auto sums = RankedTensorType::get({kAnySize}, types.getBF16Type());
  auto key = RankedTensorType::get({}, types.getI32Type());
  func::FuncOp kernel =
      startKernel(module, name, {sums, sums.clone(summand), key}, TypeRange(sums), 0, 1);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  AffineMap scalar = AffineMap::get(1, 0, builder.getContext());
  auto generic = linalg::GenericOp::create(
      builder, kernel.getLoc(), TypeRange(sums),
      ValueRange{kernel.getArgument(1), kernel.getArgument(2)}, kernel.getArgument(0),
      ArrayRef<AffineMap>{identity, scalar, identity}, utils::IteratorType::parallel,
      [&](OpBuilder &b, Location loc, ValueRange values) {
        Formula f(b, loc);
        Value own = f.cast(values[0], b.getF32Type());
        Value sum = isFirst ? own : f.add(f.cast(values[2], b.getF32Type()), own);
        Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), own);
        bits = stored::mixBits(b, loc, arith::XOrIOp::create(b, loc, bits, values[1]));
        linalg::YieldOp::create(b, loc, stored::roundAtRandom(b, loc, sum, bits));
      });
  func::ReturnOp::create(builder, kernel.getLoc(), generic.getResults());
  return kernel;
}

func::FuncOp buildRoundingKey(ModuleOp module, StringRef name) {
  Builder types(module.getContext());
  auto i64 = RankedTensorType::get({}, types.getI64Type());
  auto key = RankedTensorType::get({}, types.getI32Type());
  func::FuncOp kernel = startKernel(module, name, {i64, i64, i64}, TypeRange(key));
  Location loc = kernel.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Formula f(b, loc);
  auto seed = module->getAttrOfType<IntegerAttr>(kSeedAttr);
  Value step =
      stored::bitsOfStep(b, loc, f.element(kernel.getArgument(0)), seed ? seed.getInt() : 0);
  // Part i of a batch is that of data-parallel rank i % ranks.
  Value microBatch = arith::DivUIOp::create(b, loc, f.element(kernel.getArgument(1)),
                                            f.element(kernel.getArgument(2)));
  microBatch = arith::TruncIOp::create(b, loc, b.getI32Type(), microBatch);
  Value bits = stored::mixBits(b, loc, arith::XOrIOp::create(b, loc, microBatch, step));
  func::ReturnOp::create(b, loc, f.tensor(bits));
  return kernel;
}

/// A sum over the last dimension of the results of `body` for the elements, in type `element`.
static Value sumLast(OpBuilder &builder, Location loc, Value input, Type element,
                     llvm::function_ref<Value(Formula &, Value)> body) {
  auto type = cast<RankedTensorType>(input.getType());
  unsigned rank = type.getRank();
  SmallVector<Value> sizes;
  for (int64_t i = 0; i + 1 < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(builder, loc, input, i));
  auto result = RankedTensorType::get(type.getShape().drop_back(), element);
  Value empty = tensor::EmptyOp::create(builder, loc, result, sizes);
  Value zero = Formula(builder, loc).constant(0, element);
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(result), input, init,
      ArrayRef<AffineMap>{identity, identity.dropResult(rank - 1)}, loops,
      [&](OpBuilder &b, Location l, ValueRange values) {
        Formula f(b, l);
        Value next = f.unorderedAdd(values[1], body(f, f.cast(values[0], element)));
        linalg::YieldOp::create(b, l, next);
      });
  return generic.getResult(0);
}

func::FuncOp buildSquareBlocks(ModuleOp module, StringRef name, Type element) {
  Type f32 = Float32Type::get(module.getContext());
  auto blocks = RankedTensorType::get({kAnySize, kTensorAlignment}, element);
  func::FuncOp kernel = startKernel(module, name, TypeRange(blocks),
                                    TypeRange(RankedTensorType::get({kAnySize}, f32)));
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Value sums = sumLast(builder, kernel.getLoc(), kernel.getArgument(0), f32,
                       [](Formula &f, Value value) { return f.mul(value, value); });
  func::ReturnOp::create(builder, kernel.getLoc(), sums);
  return kernel;
}

func::FuncOp buildTotal(ModuleOp module, StringRef name, Type element) {
  Type f64 = Float64Type::get(module.getContext());
  func::FuncOp kernel =
      startKernel(module, name, TypeRange(RankedTensorType::get({kAnySize}, element)),
                  TypeRange(RankedTensorType::get({}, f64)));
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Value sum = sumLast(builder, kernel.getLoc(), kernel.getArgument(0), f64,
                      [](Formula &, Value value) { return value; });
  func::ReturnOp::create(builder, kernel.getLoc(), sum);
  return kernel;
}

/// The number in `list` that iteration (chunk, k) of the enclosing op adds as `type`: zero behind
/// the end of the chunk.
static Value numberOfChunk(OpBuilder &builder, Location loc, Value list, Value first, Value size,
                           Type type) {
  Formula f(builder, loc);
  Type index = builder.getIndexType();
  Value position = linalg::IndexOp::create(builder, loc, 1);
  Value end = arith::IndexCastOp::create(builder, loc, index, size);
  Value begin = arith::IndexCastOp::create(builder, loc, index, first);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position, end);
  Value at = arith::AddIOp::create(builder, loc, begin, position);
  at = f.select(exists, at, begin);
  Value number = f.cast(tensor::ExtractOp::create(builder, loc, list, at), type);
  return f.select(exists, number, f.constant(0, type));
}

func::FuncOp buildChunkSums(ModuleOp module, StringRef name, Type element) {
  MLIRContext *context = module.getContext();
  Type f64 = Float64Type::get(context);
  auto list = RankedTensorType::get({kAnySize}, element);
  auto chunks = list.clone(IntegerType::get(context, 64)), sums = list.clone(f64);
  func::FuncOp kernel = startKernel(module, name, {chunks, chunks, list}, TypeRange(sums));
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Value count = tensor::DimOp::create(builder, loc, kernel.getArgument(0), 0);
  Value empty = tensor::EmptyOp::create(builder, loc, sums, count);
  Value zero = Formula(builder, loc).constant(0, f64);
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  // Nothing reads this operand: it says how long the sums are.
  Value size = tensor::EmptyOp::create(builder, loc, {kChunkSize}, builder.getI8Type());
  AffineExpr chunk = builder.getAffineDimExpr(0), position = builder.getAffineDimExpr(1);
  AffineMap perChunk = AffineMap::get(2, 0, chunk), along = AffineMap::get(2, 0, position);
  utils::IteratorType loops[] = {utils::IteratorType::parallel, utils::IteratorType::reduction};
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(sums), ValueRange{kernel.getArgument(0), kernel.getArgument(1), size},
      init, ArrayRef<AffineMap>{perChunk, perChunk, along, perChunk}, loops,
      [&](OpBuilder &b, Location l, ValueRange values) {
        Value number = numberOfChunk(b, l, kernel.getArgument(2), values[0], values[1], f64);
        linalg::YieldOp::create(b, l, Formula(b, l).unorderedAdd(values[3], number));
      });
  func::ReturnOp::create(builder, loc, generic.getResults());
  kernel->setAttr(kConstantIndicesAttr, builder.getUnitAttr());
  return kernel;
}

/// min(1, clipNorm / (norm + 1e-6)), in f64.
static Value clipRatio(Formula &f, double clipNorm, Value norm) {
  Type f64 = norm.getType();
  return f.min(f.div(f.constant(clipNorm, f64), f.add(norm, f.constant(1e-6, f64))),
               f.constant(1, f64));
}

func::FuncOp buildClipFactor(ModuleOp module, StringRef name, double clipNorm, bool hasShare) {
  MLIRContext *context = module.getContext();
  Type f64 = Float64Type::get(context), f32 = Float32Type::get(context);
  const auto scalar = RankedTensorType::get({}, f32);
  func::FuncOp kernel =
      startKernel(module, name, SmallVector<Type>(hasShare ? 2 : 1, scalar), {scalar});
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Formula f(builder, kernel.getLoc());
  Value factor = clipRatio(f, clipNorm, f.cast(f.element(kernel.getArgument(0)), f64));
  if (hasShare)
    factor = f.mul(factor, f.cast(f.element(kernel.getArgument(1)), f64));
  func::ReturnOp::create(builder, kernel.getLoc(), f.tensor(f.cast(factor, f32)));
  return kernel;
}

func::FuncOp buildGradientFactor(ModuleOp module, StringRef name, const GradientFactorForm &form) {
  MLIRContext *context = module.getContext();
  Type f64 = Float64Type::get(context), f32 = Float32Type::get(context);
  auto scalar = [](Type type) { return RankedTensorType::get({}, type); };
  SmallVector<Type> inputs{scalar(f64)}, results{scalar(f32), scalar(f32)};
  if (form.skips)
    results.push_back(scalar(IntegerType::get(context, 1)));
  if (form.hasScale) {
    inputs.push_back(scalar(f32));
    results.push_back(scalar(f32));
  }
  if (form.hasShare)
    inputs.push_back(scalar(f32));
  func::FuncOp kernel = startKernel(module, name, inputs, results);
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Formula f(builder, loc);
  Value one = f.constant(1, f64);
  Value sum = f.element(kernel.getArgument(0));
  Value norm = f.sqrt(sum), factor = one;
  if (form.hasScale) {
    factor = f.div(one, f.cast(f.element(kernel.getArgument(1)), f64));
    norm = f.mul(norm, factor);
  }
  if (form.hasShare) {
    Value share = f.cast(f.element(kernel.getArguments().back()), f64);
    factor = f.mul(factor, share);
    norm = f.mul(norm, share);
  }
  if (form.clipNorm > 0)
    factor = f.mul(factor, clipRatio(f, form.clipNorm, norm));
  SmallVector<Value> returned{f.tensor(f.cast(norm, f32)), f.tensor(f.cast(factor, f32))};
  if (form.skips) {
    // Ordered and below infinity: neither NaN nor infinite.
    Value infinity = f.constant(std::numeric_limits<double>::infinity(), f64);
    returned.push_back(
        f.tensor(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, sum, infinity)));
  }
  if (form.hasScale)
    returned.push_back(f.tensor(f.element(kernel.getArgument(1))));
  func::ReturnOp::create(builder, loc, returned);
  return kernel;
}

/// Two equal i64, the operand of zero.check.
static Value checkedPair(OpBuilder &builder, Location loc, Value flag) {
  Type i64 = builder.getI64Type();
  Value number = arith::ExtUIOp::create(builder, loc, i64, flag);
  return tensor::FromElementsOp::create(builder, loc, RankedTensorType::get({2}, i64),
                                        ValueRange{number, number});
}

func::FuncOp buildLossScale(ModuleOp module, StringRef name, const LossScaleOptions &options) {
  MLIRContext *context = module.getContext();
  Type f32 = Float32Type::get(context);
  auto scalar = RankedTensorType::get({}, f32);
  auto flag = RankedTensorType::get({}, IntegerType::get(context, 1));
  auto pair = RankedTensorType::get({2}, IntegerType::get(context, 64));
  func::FuncOp kernel =
      startKernel(module, name, {flag, scalar, scalar, scalar}, {scalar, scalar, scalar, pair});
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Formula f(builder, loc);
  auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  };
  Value zero = f.constant(0, f32), one = f.constant(1, f32), two = f.constant(2, f32);
  Value least = f.constant(options.min, f32), patience = f.constant(options.hysteresis, f32);
  Value counts = f.element(kernel.getArgument(0)), scale = f.element(kernel.getArgument(1));
  Value good = f.add(f.element(kernel.getArgument(2)), one),
        left = f.element(kernel.getArgument(3));

  // Without overflow: after a window of such steps the scale doubles.
  Value full = compare(arith::CmpFPredicate::OGE, good, f.constant(options.window, f32));
  Value scaleUp = f.select(full, f.mul(scale, two), scale), goodUp = f.select(full, zero, good);
  Value leftUp = f.select(full, patience, left);
  // After an overflow: the scale halves if no more overflows are tolerated.
  Value spent = compare(arith::CmpFPredicate::OLE, left, one);
  Value halved = f.max(f.mul(scale, f.constant(0.5, f32)), least);
  Value scaleDown = f.select(spent, halved, scale);
  Value leftDown = f.select(spent, left, f.sub(left, one));
  Value stuck =
      arith::AndIOp::create(builder, loc, spent, compare(arith::CmpFPredicate::OLE, scale, least));
  Value isStuck =
      f.select(counts, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false)), stuck);
  func::ReturnOp::create(builder, loc,
                         ValueRange{f.tensor(f.select(counts, scaleUp, scaleDown)),
                                    f.tensor(f.select(counts, goodUp, zero)),
                                    f.tensor(f.select(counts, leftUp, leftDown)),
                                    checkedPair(builder, loc, isStuck)});
  return kernel;
}

} // namespace zero
