//===- Windows.cpp - reductions of windows --------------------------------===//
//
// Windows as large as a dimension that begin at each element are running sums. Others of floats are
// pooling, over the dimensions that the windows span; what pooling nodes do not know is combined
// slice by slice, one slice for each element of a window.
//
//===----------------------------------------------------------------------===//

#include "Windows.h"
#include "Reductions.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

WindowDims WindowDims::select(ArrayRef<int64_t> dims) const {
  return {sizesOf(size, dims), sizesOf(strides, dims),       sizesOf(low, dims),
          sizesOf(high, dims), sizesOf(baseDilations, dims), sizesOf(dilations, dims)};
}

SmallVector<int64_t> WindowDims::interior() const {
  SmallVector<int64_t> counts;
  for (int64_t dilation : baseDilations)
    counts.push_back(dilation - 1);
  return counts;
}

/// The numbers of `attr`, or ones; nothing if there are not `count` or one is not positive.
static std::optional<SmallVector<int64_t>> positives(Attribute attr, int64_t count) {
  auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attr);
  if (!list)
    return SmallVector<int64_t>(count, 1);
  constexpr int64_t kMost = int64_t(1) << 20;
  for (int64_t number : list.asArrayRef())
    if (number < 1 || number > kMost)
      return std::nullopt;
  return int64_t(list.size()) == count ? std::optional(llvm::to_vector(list.asArrayRef()))
                                       : std::nullopt;
}

std::optional<WindowDims> windowsOf(ArrayRef<int64_t> size, Attribute strides, Attribute padding,
                                    Attribute baseDilations, Attribute dilations) {
  const int64_t rank = size.size();
  auto stride = positives(strides, rank), base = positives(baseDilations, rank),
       window = positives(dilations, rank);
  if (!stride || !base || !window)
    return std::nullopt;
  WindowDims dims{llvm::to_vector(size),         *stride, SmallVector<int64_t>(rank, 0),
                  SmallVector<int64_t>(rank, 0), *base,   *window};
  constexpr int64_t kMost = int64_t(1) << 40;
  for (int64_t extent : size)
    if (extent < 1 || extent > kMost)
      return std::nullopt;
  auto pads = dyn_cast_or_null<DenseIntElementsAttr>(padding);
  if (!pads)
    return padding ? std::nullopt : std::optional(dims);
  if (pads.getType().getShape() != ArrayRef<int64_t>({rank, 2}))
    return std::nullopt;
  for (auto [index, pad] : llvm::enumerate(pads.getValues<int64_t>())) {
    if (pad > kMost || pad < -kMost)
      return std::nullopt;
    (index % 2 ? dims.high : dims.low)[index / 2] = pad;
  }
  return dims;
}

SmallVector<NamedAttribute> windowAttributes(Emitter &b, ArrayRef<int64_t> strides,
                                             ArrayRef<int64_t> dilations, ArrayRef<int64_t> low,
                                             ArrayRef<int64_t> high) {
  return {b.attr("strides", strides), b.attr("dilations", dilations),
          b.attr("pads", ArrayRef<int64_t>(joined(low, high)))};
}

//===----------------------------------------------------------------------===//
// Running reductions
//===----------------------------------------------------------------------===//

namespace {
/// A reduction of windows of one operand.
struct Reduction {
  Value x, start;
  Region *body;
  std::optional<Combiner> combiner; ///< if the body is a known one
  WindowDims windows;

  /// The body for two tensors; null if it has an op without a rule.
  Value combine(Emitter &b, Value x, Value y) const {
    if (combiner)
      return b.binary(combiner->node, x, y);
    FailureOr<SmallVector<Value>> result = emitBody(b, *body, {x, y});
    return succeeded(result) && result->size() == 1 ? result->front() : Value();
  }
  /// What pads: the neutral element, which an initial value of an unknown body is.
  Value fill(Emitter &b) const {
    return combiner ? b.constant(neutralElement(*combiner, elementOf(x))) : start;
  }

  /// The dimensions in which windows do more than pass elements on.
  SmallVector<int64_t> spanned() const {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < windows.rank(); ++dim)
      if (windows.size[dim] != 1 || windows.strides[dim] != 1 || windows.low[dim] ||
          windows.high[dim] || windows.baseDilations[dim] != 1)
        dims.push_back(dim);
    return dims;
  }
};
} // namespace

/// Combines the elements up to each position of `axis`, by steps that double.
static Value scan(Emitter &b, const Reduction &reduction, int64_t axis, bool fromEnd) {
  Value x = reduction.x, fill = reduction.fill(b);
  const int64_t extent = shapeOf(x)[axis], rank = shapeOf(x).size();
  for (int64_t step = 1; step < extent; step *= 2) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    low[axis] = fromEnd ? -step : step;
    high[axis] = -low[axis];
    Value before = b.pad(x, low, high, fill);
    x = fromEnd ? reduction.combine(b, x, before) : reduction.combine(b, before, x);
    if (!x)
      return {};
  }
  return x;
}

/// The running reduction along the only dimension that windows span, or null if it is none.
static Value runningReduction(Emitter &b, const Reduction &reduction) {
  auto dims = reduction.spanned();
  const WindowDims &w = reduction.windows;
  if (dims.size() != 1)
    return {};
  const int64_t axis = dims.front(), extent = shapeOf(reduction.x)[axis];
  const int64_t before = w.low[axis], after = w.high[axis];
  const bool isRunning =
      (before == extent - 1 && after == 0) || (before == 0 && after == extent - 1);
  if (w.size[axis] != extent || w.strides[axis] != 1 || w.dilations[axis] != 1 ||
      w.baseDilations[axis] != 1 || !isRunning || extent < 2)
    return {};
  const bool fromEnd = after != 0;
  Type element = elementOf(reduction.x);
  if (!reduction.combiner || reduction.combiner->node != op::Add || element.isUnsignedInteger())
    return scan(b, reduction, axis, fromEnd);
  return b.one(op::CumSum, reduction.x.getType(),
               {reduction.x, b.number(double(axis), b.getBuilder().getI64Type())},
               b.attr("reverse", int64_t(fromEnd)));
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

namespace {
/// A tensor with the dimensions that windows span last, as images [batch, channels, spatial...].
struct Images {
  Images(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims)
      : dims(dims), leading(otherDims(shape.size(), dims)), order(joined(leading, this->dims)),
        kept(sizesOf(shape, leading)) {}

  Value from(Emitter &b, Value x) const {
    auto spatial = sizesOf(shapeOf(x), dims);
    const int64_t channels = kept.empty() ? 1 : kept.back();
    const int64_t batch = kept.empty() ? 1 : productOf(ArrayRef(kept).drop_back());
    return b.reshaped(b.permuted(x, order), joined({batch, channels}, spatial));
  }
  Value back(Emitter &b, Value images) const {
    auto spatial = llvm::to_vector(shapeOf(images).drop_front(2));
    Value x = b.reshaped(images, joined(kept, spatial));
    return b.permuted(x, invertPermutationVector(order));
  }

  SmallVector<int64_t> dims, leading, order, kept;
};
} // namespace

/// Whether a window may be in the padding entirely, which pooling nodes do not allow.
static bool hasWidePadding(const WindowDims &w) {
  for (int64_t dim = 0; dim < w.rank(); ++dim)
    if (w.low[dim] > w.reach(dim) || w.high[dim] > w.reach(dim) || w.low[dim] < 0 ||
        w.high[dim] < 0)
      return true;
  return false;
}

/// Pads `images` where pooling nodes do not.
static Value padImages(Emitter &b, Value images, WindowDims &w, Value fill) {
  images = b.spread(images, joined({0, 0}, w.interior()), fill);
  w.baseDilations.assign(w.rank(), 1);
  if (!hasWidePadding(w))
    return images;
  images = b.pad(images, joined({0, 0}, w.low), joined({0, 0}, w.high), fill);
  w.low.assign(w.rank(), 0);
  w.high.assign(w.rank(), 0);
  return images;
}

static Value poolImages(Emitter &b, onnx::Operator type, Value images, const WindowDims &w) {
  SmallVector<int64_t> shape(shapeOf(images).take_front(2));
  for (int64_t dim = 0; dim < w.rank(); ++dim)
    shape.push_back(w.count(dim, shapeOf(images)[2 + dim]));
  auto attrs = windowAttributes(b, w.strides, w.dilations, w.low, w.high);
  attrs.push_back(b.attr("kernel_shape", ArrayRef<int64_t>(w.size)));
  if (type != op::MaxPool)
    attrs.push_back(b.attr("count_include_pad", int64_t(1)));
  return b.one(type, tensorType(images).clone(shape), images, attrs);
}

/// Pooling of floats by the largest, the smallest or the sum; null for other combiners.
static Value pooled(Emitter &b, const Reduction &reduction) {
  if (!reduction.combiner)
    return {};
  const bool isMax = reduction.combiner->node == op::Max;
  const bool isMin = reduction.combiner->node == op::Min;
  const bool isSum = reduction.combiner->node == op::Add;
  if (!isa<FloatType>(elementOf(reduction.x)) || !(isMax || isMin || isSum))
    return {};
  auto dims = reduction.spanned();
  WindowDims w = reduction.windows.select(dims);
  Images layout(shapeOf(reduction.x), dims);
  Value fill = isSum ? b.number(0, elementOf(reduction.x)) : reduction.fill(b);
  Value images = padImages(b, layout.from(b, reduction.x), w, fill);
  Value result;
  if (isSum) {
    Value mean = poolImages(b, op::AveragePool, images, w);
    result = b.mul(mean, b.number(double(productOf(w.size)), elementOf(mean)));
  } else {
    // The smallest is the largest of the opposites.
    result = poolImages(b, op::MaxPool, isMin ? b.neg(images) : images, w);
    result = isMin ? b.neg(result) : result;
  }
  return layout.back(b, result);
}

/// One slice for each element of a window, combined in order.
static Value combinedSlices(Emitter &b, const Reduction &reduction) {
  const WindowDims &w = reduction.windows;
  Value fill = reduction.fill(b);
  Value padded = b.pad(b.spread(reduction.x, w.interior(), fill), w.low, w.high, fill);
  Value result;
  SmallVector<int64_t> at(w.rank(), 0);
  for (int64_t element = 0; element < productOf(w.size); ++element) {
    SmallVector<int64_t> starts, limits;
    for (int64_t dim = 0; dim < w.rank(); ++dim) {
      int64_t count = w.count(dim, shapeOf(reduction.x)[dim]);
      starts.push_back(at[dim] * w.dilations[dim]);
      limits.push_back(starts.back() + (count - 1) * w.strides[dim] + 1);
    }
    Value slice = b.slice(padded, starts, limits, w.strides);
    result = result ? reduction.combine(b, result, slice) : slice;
    if (!result)
      return {};
    for (int64_t dim = w.rank(); dim-- > 0 && ++at[dim] == w.size[dim];)
      at[dim] = 0;
  }
  return result;
}

static LogicalResult reduceWindow(Operation *operation, Emitter &b,
                                  SmallVectorImpl<Value> &results) {
  auto op = cast<ReduceWindowOp>(operation);
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return b.refuse("expected one operand and its initial value");
  Value x = op.getOperands()[0], start = op.getOperands()[1];
  auto windows = windowsOf(op.getWindowDimensions(), op.getWindowStridesAttr(), op.getPaddingAttr(),
                           op.getBaseDilationsAttr(), op.getWindowDilationsAttr());
  if (!windows || windows->rank() != int64_t(shapeOf(x).size()) || !shapeOf(start).empty() ||
      elementOf(start) != elementOf(x))
    return b.refuse("expected a window for each dimension, and a scalar initial value");
  std::optional<Combiner> combiner = combinerFor(combinerOf(op.getBody()), elementOf(x));
  if (productOf(shapeOf(op->getResult(0))) == 0 || productOf(shapeOf(x)) == 0)
    return b.refuse("expected no empty tensor");
  for (int64_t dim = 0; dim < windows->rank(); ++dim)
    if (windows->count(dim, shapeOf(x)[dim]) != shapeOf(op->getResult(0))[dim])
      return b.refuse("expected a result with one element for each window");
  Reduction reduction{x, start, &op.getBody(), combiner, *windows};
  constexpr int64_t kMostSlices = 1024;
  Value result = reduction.spanned().empty() ? x : runningReduction(b, reduction);
  if (!result)
    result = pooled(b, reduction);
  if (!result && productOf(windows->size) > kMostSlices)
    return b.refuse("expected windows of at most " + Twine(kMostSlices) + " elements");
  if (!result)
    result = combinedSlices(b, reduction);
  if (result && !(combiner && isNeutral(b, start, *combiner)))
    result = reduction.combine(b, b.expand(start, shapeOf(result)), result);
  if (!result)
    return b.refuse("expected a body of elementwise ops on scalars");
  results.push_back(result);
  return success();
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

/// The comparison that the only op of `region` is, of its first argument with the second.
static std::optional<ComparisonDirection> selectionOf(Region &region) {
  if (combinerOf(region) != "stablehlo.compare")
    return std::nullopt;
  auto yield = cast<ReturnOp>(region.front().back());
  auto compare = yield->getOperand(0).getDefiningOp<CompareOp>();
  if (compare.getLhs() != region.getArgument(0))
    return std::nullopt;
  return compare.getComparisonDirection();
}

/// The gradient of a pooling: adds each element of `source` to the first largest of its window.
static LogicalResult selectAndScatter(Operation *operation, Emitter &b,
                                      SmallVectorImpl<Value> &results) {
  auto op = cast<SelectAndScatterOp>(operation);
  Value x = op.getOperand(), source = op.getSource();
  Attribute size = op.getWindowDimensionsAttr();
  SmallVector<int64_t> ones(shapeOf(x).size(), 1);
  auto windows = windowsOf(size ? *op.getWindowDimensions() : ArrayRef<int64_t>(ones),
                           op.getWindowStridesAttr(), op.getPaddingAttr(), {}, {});
  if (!windows || windows->rank() != int64_t(shapeOf(x).size()) ||
      windows->rank() != int64_t(shapeOf(source).size()) || elementOf(source) != elementOf(x) ||
      !isa<FloatType>(elementOf(x)) || productOf(shapeOf(source)) == 0)
    return b.refuse("expected floats, and a window for each dimension");
  for (int64_t dim = 0; dim < windows->rank(); ++dim)
    if (windows->count(dim, shapeOf(x)[dim]) != shapeOf(source)[dim])
      return b.refuse("expected a source with one element for each window");
  auto direction = selectionOf(op.getSelect());
  if ((direction != ComparisonDirection::GE && direction != ComparisonDirection::LE) ||
      combinerOf(op.getScatter()) != "stablehlo.add")
    return b.refuse("expected a selection by GE or LE, and a sum as the scatter");
  Reduction reduction{x, {}, nullptr, std::nullopt, *windows};
  auto dims = reduction.spanned();
  if (dims.empty())
    dims = {0};
  WindowDims w = windows->select(dims);
  if (hasWidePadding(w))
    return b.refuse("expected a padding that is smaller than the window");
  Images layout(shapeOf(x), dims);
  Value images = layout.from(b, x);
  if (direction == ComparisonDirection::LE)
    images = b.neg(images);
  auto attrs = windowAttributes(b, w.strides, w.dilations, w.low, w.high);
  attrs.push_back(b.attr("kernel_shape", ArrayRef<int64_t>(w.size)));
  Value result = layout.back(
      b, b.one(own::MaxPoolGrad, images.getType(), {layout.from(b, source), images}, attrs));
  Value start = op.getInitValue();
  results.push_back(b.splatOf(start) == 0.0 ? result : b.add(result, start));
  return success();
}

void addWindowRules(RuleTable &table) {
  table["stablehlo.reduce_window"] = reduceWindow;
  table["stablehlo.select_and_scatter"] = selectAndScatter;
}

} // namespace zero::hlo
