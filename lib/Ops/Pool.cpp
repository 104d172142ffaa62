//===- Pool.cpp - pooling -------------------------------------------------===//
//
// ONNX, opsets 13 to 23, over any number of spatial dimensions, with pads, auto_pad,
// dilations and ceil_mode:
//   MaxPool, with Indices in either storage_order: of equal elements the first, and
//     its gradient goes to that element alone;
//   AveragePool, with count_include_pad;
//   GlobalMaxPool, GlobalAveragePool: a window as large as the image.
// Gradients:
//   zero::MaxPoolGrad(dy, x) {kernel_shape, strides, dilations, pads}: finds each
//     window's element again, so that forward keeps no index;
//   zero::AveragePoolGrad(dy) {the same, count_include_pad}.
//
// ONNX Runtime: AveragePoolGrad(dy), and MaxPoolGrad(dy, indices), which is zero::MaxPoolGrad where
// the indices come from a MaxPool, so that they need not be stored; else it adds dy at them.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;

namespace zero::ops {

/// Elements that the window at `output` of dimension `dim` has between `from` and `to`.
static int64_t countSeen(const Windows &windows, int64_t dim, int64_t output, int64_t from,
                         int64_t to) {
  int64_t start = output * windows.strides[dim] - windows.padsBegin[dim];
  auto countBefore = [&](int64_t position) {
    int64_t elements =
        llvm::divideCeil(std::max<int64_t>(position - start, 0), windows.dilations[dim]);
    return std::min(elements, windows.kernel[dim]);
  };
  return countBefore(to) - countBefore(from);
}

/// The windows of a pooling from `x` to `y`; each sees an element of the image.
static FailureOr<Windows> poolWindows(onnx::NodeOp node, RankedTensorType x, RankedTensorType y) {
  auto kernel = node.getInts("kernel_shape");
  if (x.getRank() < 3 || !kernel)
    return nodeError(node) << "expected a kernel_shape and an image of at least 3 dimensions, got "
                           << x;
  if (!isa<FloatType>(x.getElementType()))
    return nodeError(node) << "expected an image of floats, got " << x;
  FailureOr<Windows> windows =
      windowsOf(node, x.getShape().drop_front(2), *kernel, y.getShape().drop_front(2));
  if (failed(windows))
    return failure();
  // Each window is visited, and the divisors of a mean are a constant.
  constexpr int64_t kMostWindows = int64_t(1) << 24;
  for (int64_t count : windows->output)
    if (count > kMostWindows)
      return nodeError(node) << "expected at most " << kMostWindows
                             << " windows along a dimension, got " << count;
  for (int64_t dim = 0; dim < windows->rank(); ++dim)
    for (int64_t output = 0; output < windows->output[dim]; ++output)
      if (countSeen(*windows, dim, output, 0, windows->input[dim]) == 0)
        return nodeError(node) << "window " << output << " of dimension " << 2 + dim
                               << " lies in the padding; expected pads smaller than the window";
  return windows;
}

//===----------------------------------------------------------------------===//
// Loops over windows
//===----------------------------------------------------------------------===//

/// Combines, from `start` on, the elements of each window of `operand`, which is a
/// padded input, or with `spread` a spread output. The loops go over batch, channels,
/// the elements of a window, and last the image, which is contiguous in memory.
static Value combineWindows(ImplicitLocOpBuilder &b, Value operand, RankedTensorType result,
                            const Windows &windows, bool spread, double start,
                            llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> combine) {
  int64_t rank = windows.rank();
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < 2 + 2 * rank; ++dim)
    dims.push_back(b.getAffineDimExpr(dim));
  auto window = ArrayRef(dims).slice(2, rank), image = ArrayRef(dims).take_back(rank);
  SmallVector<AffineExpr> read(ArrayRef(dims).take_front(2)), written = read;
  llvm::append_range(read, spread ? spreadExprs(windows, image, window)
                                  : windowExprs(windows, image, window));
  llvm::append_range(written, image);
  // The extents of the windows come from an operand whose elements are not read.
  Value extents = empty(b, result.clone(windows.kernel));
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> exprs : {ArrayRef(read), window, ArrayRef(written)})
    maps.push_back(AffineMap::get(dims.size(), 0, exprs, b.getContext()));
  SmallVector<utils::IteratorType> loops(dims.size(), utils::IteratorType::parallel);
  std::fill_n(loops.begin() + 2, rank, utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      b, TypeRange(result), ValueRange{operand, extents}, filled(b, result, start), maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange elements) {
        linalg::YieldOp::create(inner, loc, combine(inner, loc, elements));
      });
  return generic.getResult(0);
}

static Value sum(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::AddFOp::create(builder, loc, x[2], x[0], arith::FastMathFlags::reassoc);
}

//===----------------------------------------------------------------------===//
// MaxPool
//===----------------------------------------------------------------------===//

static Value number(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// a factor + addend.
static Value scaled(ImplicitLocOpBuilder &b, Value a, int64_t factor, Value addend) {
  return arith::AddIOp::create(b, arith::MulIOp::create(b, a, number(b, factor)), addend);
}

/// `value` [batch, channels, spatial...] as [images, elements].
static Value asImages(ImplicitLocOpBuilder &b, Value value) {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  return reshaped(b, value,
                  tensorType(value).clone({shape[0] * shape[1], product(shape.drop_front(2))}));
}

namespace {
/// The part of a window inside the image, in one dimension.
struct Visible {
  Value first, end, step;
};
} // namespace

static Visible visiblePart(ImplicitLocOpBuilder &b, const Windows &windows, int64_t dim,
                           Value output) {
  Value zero = number(b, 0), step = number(b, windows.dilations[dim]);
  Value start = scaled(b, output, windows.strides[dim], number(b, -windows.padsBegin[dim]));
  Value missing = arith::MaxSIOp::create(b, arith::SubIOp::create(b, zero, start), zero);
  // Rounds up; the operand is not negative.
  Value upTo = arith::AddIOp::create(b, missing, number(b, windows.dilations[dim] - 1));
  Value skipped = arith::DivSIOp::create(b, upTo, step);
  Value end = arith::AddIOp::create(b, start, number(b, windows.reach(dim) + 1));
  return {scaled(b, skipped, windows.dilations[dim], start),
          arith::MinSIOp::create(b, end, number(b, windows.input[dim])), step};
}

/// The index of `position` of an image in memory, row by row.
static Value offsetOf(ImplicitLocOpBuilder &b, const Windows &windows, ValueRange position) {
  Value offset = position[0];
  for (int64_t dim = 1; dim < windows.rank(); ++dim)
    offset = scaled(b, offset, windows.input[dim], position[dim]);
  return offset;
}

/// The position in its image of the first maximum of the window at `point` (image, output...) of
/// `images`. NaN is greater than all numbers.
static Value findLargest(ImplicitLocOpBuilder &b, Value images, const Windows &windows,
                         ValueRange point) {
  SmallVector<Value> lowers, uppers, steps;
  for (int64_t dim = 0; dim < windows.rank(); ++dim) {
    Visible visible = visiblePart(b, windows, dim, point[1 + dim]);
    lowers.push_back(visible.first);
    uppers.push_back(visible.end);
    steps.push_back(visible.step);
  }
  Value first = offsetOf(b, windows, lowers);
  Value best = tensor::ExtractOp::create(b, images, ValueRange{point[0], first});
  auto nest = scf::buildLoopNest(
      b, b.getLoc(), lowers, uppers, steps, ValueRange{best, first},
      [&](OpBuilder &inner, Location loc, ValueRange position, ValueRange carried) {
        ImplicitLocOpBuilder in(loc, inner);
        Value offset = offsetOf(in, windows, position);
        Value value = tensor::ExtractOp::create(in, images, ValueRange{point[0], offset});
        using P = arith::CmpFPredicate;
        Value isLarger = arith::CmpFOp::create(in, P::OGT, value, carried[0]);
        Value isNan = arith::CmpFOp::create(in, P::UNO, value, value);
        Value take = arith::OrIOp::create(in, isLarger, isNan);
        return scf::ValueVector{arith::SelectOp::create(in, take, value, carried[0]),
                                arith::SelectOp::create(in, take, offset, carried[1])};
      });
  return nest.results[1];
}

/// The images and the outputs of each: the loops over all windows.
static SmallVector<int64_t> windowCounts(Value images, const Windows &windows) {
  SmallVector<int64_t> counts{tensorType(images).getDimSize(0)};
  llvm::append_range(counts, windows.output);
  return counts;
}

/// `offset` in an image whose first dimension is contiguous instead of its last.
static Value columnMajor(ImplicitLocOpBuilder &b, const Windows &windows, Value offset) {
  Value result = number(b, 0);
  for (int64_t dim = windows.rank(); dim-- > 0;) {
    Value extent = number(b, windows.input[dim]);
    result = scaled(b, arith::RemSIOp::create(b, offset, extent),
                    product(ArrayRef(windows.input).take_front(dim)), result);
    offset = arith::DivSIOp::create(b, offset, extent);
  }
  return result;
}

/// ONNX's Indices: positions in the entire x.
static Value emitIndices(onnx::NodeOp node, ImplicitLocOpBuilder &b, Value x,
                         const Windows &windows) {
  Value images = asImages(b, x);
  SmallVector<int64_t> counts = windowCounts(images, windows);
  RankedTensorType result = node.outputType(1);
  bool columns = node.getInt("storage_order", 0) != 0;
  Value indices =
      forEachIndex(b, counts, empty(b, result.clone(counts)),
                   [&](ImplicitLocOpBuilder &in, ValueRange point, Value carried) -> Value {
                     Value at = findLargest(in, images, windows, point);
                     at = columns ? columnMajor(in, windows, at) : at;
                     Value whole = scaled(in, point[0], product(windows.input), at);
                     Value index = arith::IndexCastOp::create(in, result.getElementType(), whole);
                     return tensor::InsertOp::create(in, index, carried, point);
                   });
  return reshaped(b, indices, result);
}

static LogicalResult lowerMaxPool(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  auto windows = poolWindows(node, node.inputType(0), result);
  if (failed(windows))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  Value image = paddedInput(b, inputs[0], *windows, lowest);
  lowered.results.push_back(
      combineWindows(b, image, result, *windows, /*spread=*/false, lowest,
                     [](OpBuilder &inner, Location loc, ValueRange x) -> Value {
                       return arith::MaximumFOp::create(inner, loc, x[2], x[0]);
                     }));
  if (node.getNumResults() > 1)
    lowered.results.push_back(emitIndices(node, b, inputs[0], *windows));
  return success();
}

static LogicalResult lowerMaxPoolGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                      Lowered &lowered) {
  RankedTensorType x = node.inputType(1);
  auto windows = poolWindows(node, x, node.inputType(0));
  if (failed(windows))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value images = asImages(b, inputs[1]);
  SmallVector<int64_t> counts = windowCounts(images, *windows);
  Value dy = reshaped(b, inputs[0], x.clone(counts));
  Value dx = forEachIndex(b, counts, filled(b, tensorType(images), 0),
                          [&](ImplicitLocOpBuilder &in, ValueRange point, Value carried) -> Value {
                            Value at = findLargest(in, images, *windows, point);
                            SmallVector<Value> target{point[0], at};
                            Value before = tensor::ExtractOp::create(in, carried, target);
                            Value more = tensor::ExtractOp::create(in, dy, point);
                            Value sum = arith::AddFOp::create(in, before, more);
                            return tensor::InsertOp::create(in, sum, carried, target);
                          });
  lowered.results.push_back(reshaped(b, dx, x));
  return success();
}

/// The attributes of `node`'s windows for its gradient node.
static SmallVector<NamedAttribute> attributesOf(NodeBuilder &builder, const Windows &windows) {
  SmallVector<NamedAttribute> attrs = windowAttributes(builder, windows);
  attrs.push_back(builder.attr("kernel_shape", windows.kernel));
  return attrs;
}

static LogicalResult maxPoolGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool>,
                                     NodeBuilder &builder, MutableArrayRef<Value> grads) {
  auto windows = poolWindows(node, node.inputType(0), node.outputType(0));
  if (failed(windows))
    return failure();
  Value x = node.getInputs()[0];
  grads[0] =
      builder.create(own::MaxPoolGrad, x.getType(), {dy[0], x}, attributesOf(builder, *windows))
          .getResult(0);
  return success();
}

//===----------------------------------------------------------------------===//
// AveragePool
//===----------------------------------------------------------------------===//

/// `value`, one element for each window, divided by the elements of its window.
static Value dividedByCounts(onnx::NodeOp node, ImplicitLocOpBuilder &b, Value value,
                             const Windows &windows) {
  RankedTensorType type = tensorType(value);
  bool padding = node.getInt("count_include_pad", 0) != 0;
  SmallVector<Value> operands{value};
  SmallVector<AffineMap> maps{AffineMap()};
  for (int64_t dim = 0; dim < windows.rank(); ++dim) {
    int64_t from = padding ? -windows.padsBegin[dim] : 0;
    int64_t to = windows.input[dim] + (padding ? windows.padsEnd[dim] : 0);
    SmallVector<Attribute> counts;
    for (int64_t output = 0; output < windows.output[dim]; ++output)
      counts.push_back(
          b.getFloatAttr(type.getElementType(), double(countSeen(windows, dim, output, from, to))));
    auto vector = RankedTensorType::get({windows.output[dim]}, type.getElementType());
    operands.push_back(arith::ConstantOp::create(b, DenseElementsAttr::get(vector, counts)));
    maps.push_back(AffineMap::get(type.getRank(), 0, b.getAffineDimExpr(2 + dim)));
  }
  return elementwise(b, operands, maps, type, [](ImplicitLocOpBuilder &in, ValueRange x) {
    Value count = x[1];
    for (Value more : x.drop_front(2))
      count = arith::MulFOp::create(in, count, more);
    return arith::DivFOp::create(in, x[0], count).getResult();
  });
}

static LogicalResult lowerAveragePool(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                      Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  auto windows = poolWindows(node, node.inputType(0), result);
  if (failed(windows))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value sums = combineWindows(b, paddedInput(b, inputs[0], *windows, 0), result, *windows,
                              /*spread=*/false, 0, sum);
  lowered.results.push_back(dividedByCounts(node, b, sums, *windows));
  return success();
}

static LogicalResult lowerAveragePoolGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                          Lowered &lowered) {
  RankedTensorType result = node.outputType(0);
  auto windows = poolWindows(node, result, node.inputType(0));
  if (failed(windows))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value shares = dividedByCounts(node, b, inputs[0], *windows);
  lowered.results.push_back(combineWindows(b, spreadOutput(b, shares, *windows), result, *windows,
                                           /*spread=*/true, 0, sum));
  return success();
}

static Value averageGradient(onnx::NodeOp node, NodeBuilder &builder, const Windows &windows,
                             Value dy, RankedTensorType type) {
  SmallVector<NamedAttribute> attrs = attributesOf(builder, windows);
  attrs.push_back(builder.attr("count_include_pad", node.getInt("count_include_pad", 0)));
  return builder.create(own::AveragePoolGrad, type, dy, attrs).getResult(0);
}

static LogicalResult averagePoolGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool>,
                                         NodeBuilder &builder, MutableArrayRef<Value> grads) {
  auto windows = poolWindows(node, node.inputType(0), node.outputType(0));
  if (failed(windows))
    return failure();
  grads[0] = averageGradient(node, builder, *windows, dy[0], node.inputType(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Global pooling
//===----------------------------------------------------------------------===//

static LogicalResult expandGlobalMax(onnx::NodeOp node, NodeBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  ArrayRef<int64_t> image = node.inputType(0).getShape().drop_front(2);
  results.push_back(builder
                        .create(op::MaxPool, node.outputType(0), node.getInputs()[0],
                                builder.attr("kernel_shape", image))
                        .getResult(0));
  return success();
}

static LogicalResult expandGlobalAverage(onnx::NodeOp node, NodeBuilder &builder,
                                         SmallVectorImpl<Value> &results) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, node.inputType(0).getRank()));
  results.push_back(builder
                        .create(op::ReduceMean, node.outputType(0),
                                {node.getInputs()[0], builder.indices(axes)},
                                builder.attr("keepdims", int64_t(1)))
                        .getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// ONNX Runtime
//===----------------------------------------------------------------------===//

/// Adds dy at `indices` into the entire tensor.
static LogicalResult expandScatteredGrad(onnx::NodeOp node, NodeBuilder &builder,
                                         SmallVectorImpl<Value> &results) {
  if (node.getInt("storage_order", 0) != 0)
    return nodeError(node) << "expected storage_order = 0 of indices that no MaxPool computes";
  RankedTensorType type = node.outputType(0);
  int64_t count = node.inputType(0).getNumElements();
  Value flat = builder
                   .create(own::GatherElementsGrad, type.clone({type.getNumElements()}),
                           {builder.reshape(node.getInputs()[0], {count}),
                            builder.reshape(node.getInputs()[1], {count})},
                           {builder.attr("axis", int64_t(0)),
                            builder.attr("shape", ArrayRef<int64_t>(type.getNumElements()))})
                   .getResult(0);
  results.push_back(builder.reshape(flat, type.getShape()));
  return success();
}

static LogicalResult expandMaxPoolGrad(onnx::NodeOp node, NodeBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.outputType(0);
  Value indices = node.getInputs()[1];
  auto pool = indices.getDefiningOp<onnx::NodeOp>();
  if (!pool || !pool.is(op::MaxPool) || pool.inputType(0) != type)
    return expandScatteredGrad(node, builder, results);
  auto windows = poolWindows(node, type, node.inputType(0));
  if (failed(windows))
    return failure();
  results.push_back(builder
                        .create(own::MaxPoolGrad, type, {node.getInputs()[0], pool.getInputs()[0]},
                                attributesOf(builder, *windows))
                        .getResult(0));
  return success();
}

static LogicalResult expandAveragePoolGrad(onnx::NodeOp node, NodeBuilder &builder,
                                           SmallVectorImpl<Value> &results) {
  auto windows = poolWindows(node, node.outputType(0), node.inputType(0));
  if (failed(windows))
    return failure();
  results.push_back(
      averageGradient(node, builder, *windows, node.getInputs()[0], node.outputType(0)));
  return success();
}

/// Images and channels. Indices count the elements of all of them.
static Factors poolFactors(onnx::NodeOp node) {
  if (node.getNumResults() > 1 && isa<RankedTensorType>(node.getResult(1).getType()))
    return {};
  const SmallVector<int64_t> images(node.getInputs().size(), 0);
  const SmallVector<int64_t> channels(node.getInputs().size(), 1);
  return FactorBuilder(node).add(images, 0).add(channels, 1).take();
}

/// MaxPoolGrad(dy, x): the positions of the maxima are the second result of MaxPool.
static LogicalResult maxPoolGradPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                        SmallVectorImpl<Value> &results) {
  Value dy = node.getInputs()[0], x = node.getInputs()[1];
  RankedTensorType type = tensorType(dy), image = tensorType(x);
  Type i64 = nodes.getBuilder().getI64Type();
  SmallVector<NamedAttribute> attrs;
  for (StringRef name : {"dilations", "kernel_shape", "pads", "strides"})
    attrs.push_back(nodes.attr(name, ArrayRef<int64_t>(*node.getInts(name))));
  auto pool = nodes.create(op::MaxPool, {type, type.clone(i64)}, x, attrs);
  Value zeros = nodes.splat(0, image.clone({image.getNumElements()}));
  Value at = nodes.reshape(pool.getResult(1), {type.getNumElements()});
  Value updates = nodes.reshape(dy, {type.getNumElements()});
  results.push_back(nodes.reshape(addAtElements(nodes, zeros, at, updates, 0), image.getShape()));
  return success();
}

void registerPool() {
  auto add = [](OpDef def) { registerOp(def.dividedBy(poolFactors)); };
  add({op::MaxPool, 13, 23, Kind::Other, lowerMaxPool, maxPoolGradient});
  add({op::AveragePool, 13, 23, Kind::Other, lowerAveragePool, averagePoolGradient});
  registerOp({{"", "GlobalMaxPool"}, 13, 23, Kind::Other, nullptr, nullptr, expandGlobalMax});
  registerOp(
      {{"", "GlobalAveragePool"}, 13, 23, Kind::Other, nullptr, nullptr, expandGlobalAverage});
  add(OpDef{own::MaxPoolGrad, 1, 1, Kind::Other, lowerMaxPoolGrad}.writtenBy(maxPoolGradPlainly));
  add({own::AveragePoolGrad, 1, 1, Kind::Other, lowerAveragePoolGrad});
  for (StringRef domain : {StringRef(), StringRef(kRuntimeDomain)}) {
    registerRuntimeOp(own::MaxPoolGrad.type, expandMaxPoolGrad, domain);
    registerRuntimeOp(own::AveragePoolGrad.type, expandAveragePoolGrad, domain);
  }
}

} // namespace zero::ops
