//===- LinalgWindows.cpp - convolutions and pooling as nodes --------------===//
//
// A convolution reads an image at the position of an output, times a stride, plus the position in a
// window, times a dilation. Batch, channels and groups may be in any order, and spatial dimensions
// of any number: operands are transposed to those of ONNX.
//
// The gradient of weights is a convolution of the image with a window as large as the outputs were.
//
//===----------------------------------------------------------------------===//

#include "zero/Programs/Linalg/LinalgNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {

namespace {
/// A spatial dimension of the image: the loops over outputs and over the window, and their factors.
struct WindowDim {
  int64_t output, window, stride, dilation;
};
} // namespace

/// The loops of a convolution or a pooling.
struct WindowLoops {
  SmallVector<WindowDim> spatial;
  SmallVector<int64_t> batch, groups, inner, outer; // inner and outer channels

  /// The channels of the image.
  SmallVector<int64_t> channels() const {
    SmallVector<int64_t> loops(groups);
    llvm::append_range(loops, inner);
    return loops;
  }
  SmallVector<int64_t> outputs() const {
    return llvm::map_to_vector(spatial, [](const WindowDim &dim) { return dim.output; });
  }
  SmallVector<int64_t> windows() const {
    return llvm::map_to_vector(spatial, [](const WindowDim &dim) { return dim.window; });
  }
};

/// The loop and the factor of a term of an index; loop -1 for another expression.
static std::pair<int64_t, int64_t> termOf(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return {dim.getPosition(), 1};
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return {-1, 0};
  auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  return dim && factor && factor.getValue() > 0
             ? std::pair<int64_t, int64_t>(dim.getPosition(), factor.getValue())
             : std::pair<int64_t, int64_t>(-1, 0);
}

/// The dimension of an image that `expr` reads: a sum of a kept and a summed loop.
static std::optional<WindowDim> windowDimOf(AffineExpr expr,
                                            ArrayRef<utils::IteratorType> iterators) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto [a, stride] = termOf(sum.getLHS());
  auto [b, dilation] = termOf(sum.getRHS());
  if (a < 0 || b < 0)
    return std::nullopt;
  if (iterators[a] == utils::IteratorType::reduction) {
    std::swap(a, b);
    std::swap(stride, dilation);
  }
  if (iterators[a] != utils::IteratorType::parallel ||
      iterators[b] != utils::IteratorType::reduction)
    return std::nullopt;
  return WindowDim{a, b, stride, dilation};
}

static SmallVector<int64_t> dimsOf(AffineMap map) {
  SmallVector<int64_t> dims;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      dims.push_back(dim.getPosition());
  return dims;
}

/// The loops of `op` by the operands that have them.
static std::optional<WindowLoops> windowLoops(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  WindowLoops loops;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (AffineExpr expr : maps[0].getResults()) {
    if (isa<AffineDimExpr>(expr))
      continue;
    std::optional<WindowDim> dim = windowDimOf(expr, iterators);
    if (!dim)
      return std::nullopt;
    loops.spatial.push_back(*dim);
  }
  if (loops.spatial.empty() || !maps[1].isProjectedPermutation() ||
      !maps[2].isProjectedPermutation())
    return std::nullopt;
  SmallVector<int64_t> image = dimsOf(maps[0]), weights = dimsOf(maps[1]), result = dimsOf(maps[2]);
  SmallVector<int64_t> outputs = loops.outputs(), windows = loops.windows();
  for (int64_t loop = 0; loop < int64_t(iterators.size()); ++loop) {
    bool inImage = llvm::is_contained(image, loop), inWeights = llvm::is_contained(weights, loop);
    bool inResult = llvm::is_contained(result, loop);
    if (llvm::is_contained(outputs, loop) || llvm::is_contained(windows, loop)) {
      bool isWindow = llvm::is_contained(windows, loop);
      if (inImage || inWeights != isWindow || inResult == isWindow)
        return std::nullopt;
      continue;
    }
    if (inImage && inResult)
      (inWeights ? loops.groups : loops.batch).push_back(loop);
    else if (inWeights && (inImage || inResult))
      (inImage ? loops.inner : loops.outer).push_back(loop);
    else
      return std::nullopt;
  }
  return loops;
}

bool LinalgNodes::hasWindows(linalg::LinalgOp loops) { return windowLoops(loops).has_value(); }

/// The operand of a Pad around `image` by zeros, or by `fill`, and what it adds before and after
/// each dimension; the image itself if it is none.
static Value withoutPads(Value image, const APFloat &fill, SmallVectorImpl<int64_t> &pads) {
  pads.assign(2 * tensorType(image).getRank(), 0);
  auto pad = image.getDefiningOp<onnx::NodeOp>();
  DenseIntElementsAttr counts;
  DenseFPElementsAttr value;
  if (!pad || !pad.is(op::Pad) || pad.getInputs().size() != 3 ||
      !matchPattern(pad.getInputs()[1], m_Constant(&counts)) ||
      !matchPattern(pad.getInputs()[2], m_Constant(&value)) || !value.isSplat() ||
      !value.getSplatValue<APFloat>().bitwiseIsEqual(fill))
    return image;
  SmallVector<int64_t> found(counts.getValues<int64_t>());
  pads = found;
  return pad.getInputs()[0];
}

namespace {
/// What the body of the loops computes.
enum class WindowKind { Product, Sum, Max, Min };
} // namespace

static std::optional<WindowKind> kindOf(linalg::LinalgOp loops, Operation *combiner) {
  Block &body = *loops.getBlock();
  BlockArgument image = body.getArgument(0), weight = body.getArgument(1);
  BlockArgument initial = body.getArgument(2);
  if (!combiner || combiner->getNumOperands() != 2 || !initial.hasOneUse() ||
      !isa<FloatType>(combiner->getResult(0).getType()) ||
      !llvm::is_contained(combiner->getOperands(), initial))
    return std::nullopt;
  Value other = combiner->getOperand(combiner->getOperand(0) == initial ? 1 : 0);
  if (other == image && weight.use_empty()) {
    if (isa<arith::AddFOp>(combiner))
      return WindowKind::Sum;
    if (isa<arith::MaximumFOp>(combiner))
      return WindowKind::Max;
    return isa<arith::MinimumFOp>(combiner) ? std::optional(WindowKind::Min) : std::nullopt;
  }
  auto product = other.getDefiningOp<arith::MulFOp>();
  bool isProduct = product && isa<arith::AddFOp>(combiner) &&
                   llvm::is_contained(product->getOperands(), image) &&
                   llvm::is_contained(product->getOperands(), weight);
  return isProduct ? std::optional(WindowKind::Product) : std::nullopt;
}

/// The product of the extents of `loops`.
static int64_t countOf(ArrayRef<int64_t> loops, ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t loop : loops)
    count *= extents[loop];
  return count;
}

namespace {
/// The image without pads, and what pads add before and after each spatial dimension.
struct PaddedImage {
  Value image;
  SmallVector<int64_t> order, pads; ///< its dimensions: batch, channels, spatial ones
};
} // namespace

/// The dimension of `map` that depends on `loop`.
static int64_t dimOf(AffineMap map, int64_t loop) {
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (expr.isFunctionOfDim(loop))
      return int64_t(dim);
  return -1;
}

/// Takes pads by `fill` from a Pad before `image`.
static PaddedImage takePads(Value image, AffineMap map, const WindowLoops &loops,
                            const APFloat &fill) {
  PaddedImage found{image, {}, {}};
  SmallVector<int64_t> added;
  for (int64_t loop : loops.batch)
    found.order.push_back(dimOf(map, loop));
  for (int64_t loop : loops.channels())
    found.order.push_back(dimOf(map, loop));
  const size_t first = found.order.size();
  for (const WindowDim &dim : loops.spatial)
    found.order.push_back(dimOf(map, dim.output));
  Value inside = withoutPads(image, fill, added);
  const size_t half = added.size() / 2;
  bool onlySpatial = llvm::all_of(ArrayRef(found.order).take_front(first), [&](int64_t dim) {
    return added[dim] == 0 && added[half + dim] == 0;
  });
  if (onlySpatial && llvm::none_of(added, [](int64_t count) { return count < 0; }))
    found.image = inside;
  else
    added.assign(added.size(), 0);
  for (size_t end : {size_t(0), half})
    for (int64_t dim : ArrayRef(found.order).drop_front(first))
      found.pads.push_back(added[end + dim]);
  return found;
}

/// Cuts off what no window covers: a node has as many outputs as fit. False if an image has no
/// element that is covered.
bool LinalgNodes::cutToWindows(Value &image, ArrayRef<int64_t> dims,
                               ArrayRef<std::pair<int64_t, int64_t>> covered,
                               MutableArrayRef<int64_t> pads) {
  for (auto [position, dim] : llvm::enumerate(dims)) {
    int64_t before = pads[position], need = covered[position].second;
    int64_t have = tensorType(image).getDimSize(dim) + before;
    if (need < have) {
      if (need <= before)
        return false;
      image = slice(image, dim, 0, need - before);
      have = need;
    }
    pads[dims.size() + position] = need - have;
  }
  return true;
}

/// How far the windows reach along each spatial dimension.
static SmallVector<std::pair<int64_t, int64_t>> reachOf(const WindowLoops &loops,
                                                        ArrayRef<int64_t> extents) {
  SmallVector<std::pair<int64_t, int64_t>> reach;
  for (const WindowDim &dim : loops.spatial)
    reach.emplace_back(dim.output, (extents[dim.output] - 1) * dim.stride +
                                       (extents[dim.window] - 1) * dim.dilation + 1);
  return reach;
}

static SmallVector<int64_t> sizesOf(ArrayRef<int64_t> loops, ArrayRef<int64_t> extents) {
  return llvm::map_to_vector(loops, [&](int64_t loop) { return extents[loop]; });
}

/// `value` with the dimensions of the loops in `wanted`, and shape `shape`.
Value LinalgNodes::arranged(Read read, ArrayRef<int64_t> wanted, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> permutation;
  for (int64_t loop : wanted)
    permutation.push_back(llvm::find(read.loops, loop) - read.loops.begin());
  return reshapeTo(transposeTo(read.tensor, permutation), shape);
}

/// Whether windows are larger than the result.
static bool isGradientOfWeights(const WindowLoops &loops, ArrayRef<int64_t> extents) {
  return countOf(loops.windows(), extents) > countOf(loops.outputs(), extents);
}

namespace {
/// Loops in the order of some tensor, appended part by part.
struct LoopList : SmallVector<int64_t> {
  LoopList(std::initializer_list<ArrayRef<int64_t>> parts) {
    for (ArrayRef<int64_t> part : parts)
      llvm::append_range(*this, part);
  }
};
} // namespace

/// The spatial sizes of `image`.
SmallVector<int64_t> LinalgNodes::spatialSizes(const Read &image, const WindowLoops &loops) {
  return llvm::map_to_vector(loops.outputs(), [&](int64_t loop) {
    return tensorType(image.tensor).getDimSize(llvm::find(image.loops, loop) - image.loops.begin());
  });
}

/// Sums products of an image and weights: a Conv, or the gradient of one's weights. The dimensions
/// of the result are `dims`.
Value LinalgNodes::multiplyWindows(linalg::LinalgOp op, const WindowLoops &loops, Read image,
                                   ArrayRef<int64_t> pads, SmallVector<int64_t> &dims) {
  Value operand = translate(op.getDpsInputs()[1]);
  if (!operand)
    return {};
  Read weights = read(operand, op.getIndexingMapsArray()[1]);
  const int64_t groups = countOf(loops.groups, extents), inner = countOf(loops.inner, extents);
  const int64_t outer = countOf(loops.outer, extents), batch = countOf(loops.batch, extents);
  SmallVector<int64_t> spatial = spatialSizes(image, loops);
  SmallVector<int64_t> windows = sizesOf(loops.windows(), extents), strides, dilations;
  SmallVector<int64_t> outputs = sizesOf(loops.outputs(), extents);
  for (const WindowDim &dim : loops.spatial) {
    strides.push_back(dim.stride);
    dilations.push_back(dim.dilation);
  }
  auto withShape = [](int64_t a, int64_t b, ArrayRef<int64_t> rest) {
    SmallVector<int64_t> shape{a, b};
    llvm::append_range(shape, rest);
    return shape;
  };
  bool isGradient = isGradientOfWeights(loops, extents);
  if (isGradient)
    std::swap(strides, dilations);
  SmallVector<NamedAttribute> attrs{nodes.attr("strides", strides),
                                    nodes.attr("dilations", dilations), nodes.attr("pads", pads),
                                    nodes.attr("group", groups)};
  RankedTensorType type = tensorType(image.tensor);
  if (isGradient) {
    Value x = arranged(image, LoopList{loops.inner, loops.groups, loops.batch, loops.outputs()},
                       withShape(inner, groups * batch, spatial));
    Value dy = arranged(weights, LoopList{loops.inner, loops.groups, loops.outer, loops.windows()},
                        withShape(inner, groups * outer, windows));
    dims = LoopList{loops.groups, loops.outer, loops.batch, loops.outputs()};
    return nodes
        .create(own::ConvGradW, type.clone(withShape(groups * outer, batch, outputs)), {dy, x},
                attrs)
        .getResult(0);
  }
  attrs.push_back(nodes.attr("kernel_shape", windows));
  Value x = arranged(image, LoopList{loops.batch, loops.groups, loops.inner, loops.outputs()},
                     withShape(batch, groups * inner, spatial));
  Value w = arranged(weights, LoopList{loops.groups, loops.outer, loops.inner, loops.windows()},
                     withShape(groups * outer, inner, windows));
  dims = LoopList{loops.batch, loops.groups, loops.outer, loops.outputs()};
  return nodes
      .create(op::Conv, type.clone(withShape(batch, groups * outer, outputs)), {x, w}, attrs)
      .getResult(0);
}

/// The sum, the largest or the smallest element of each window.
Value LinalgNodes::poolWindows(const WindowLoops &loops, Read image, ArrayRef<int64_t> pads,
                               onnx::Operator reduction, SmallVector<int64_t> &dims) {
  SmallVector<int64_t> windows = sizesOf(loops.windows(), extents), strides, dilations;
  for (const WindowDim &dim : loops.spatial) {
    strides.push_back(dim.stride);
    dilations.push_back(dim.dilation);
  }
  // The last dimension of several of a batch counts as the channels.
  SmallVector<int64_t> batch(loops.batch), channels;
  if (batch.size() > 1)
    channels.push_back(batch.pop_back_val());
  SmallVector<int64_t> shape{countOf(batch, extents), countOf(channels, extents)}, result(shape);
  llvm::append_range(shape, spatialSizes(image, loops));
  llvm::append_range(result, sizesOf(loops.outputs(), extents));
  Value x = arranged(image, LoopList{loops.batch, loops.outputs()}, shape);
  RankedTensorType type = tensorType(x).clone(result);
  SmallVector<NamedAttribute> attrs{nodes.attr("kernel_shape", windows),
                                    nodes.attr("strides", strides),
                                    nodes.attr("dilations", dilations), nodes.attr("pads", pads)};
  dims = LoopList{loops.batch, loops.outputs()};
  if (reduction == op::ReduceSum) {
    attrs.push_back(nodes.attr("count_include_pad", int64_t(1)));
    Value mean = nodes.create(op::AveragePool, type, x, attrs).getResult(0);
    return nodes.mul(mean, nodes.scalar(double(countOf(loops.windows(), extents)), type));
  }
  bool isMin = reduction == op::ReduceMin;
  Value most = nodes.create(op::MaxPool, type, isMin ? nodes.neg(x) : x, attrs).getResult(0);
  return isMin ? nodes.neg(most) : most;
}

/// A Conv, MaxPool or AveragePool.
Value LinalgNodes::convolution(linalg::LinalgOp op) {
  WindowLoops loops = *windowLoops(op);
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  std::optional<WindowKind> kind = kindOf(op, combiner);
  Value image = kind ? translate(op.getDpsInputs()[0]) : Value();
  bool isProduct = kind == WindowKind::Product, isMin = kind == WindowKind::Min;
  if (!image || (!isProduct && (!loops.channels().empty() || !loops.outer.empty())))
    return {};
  auto element = cast<FloatType>(tensorType(image).getElementType());
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  APFloat fill = isProduct || kind == WindowKind::Sum ? APFloat::getZero(semantics)
                                                      : APFloat::getInf(semantics, !isMin);
  PaddedImage padded = takePads(image, op.getIndexingMapsArray()[0], loops, fill);
  auto spatial = ArrayRef(padded.order).take_back(loops.spatial.size());
  if (!cutToWindows(padded.image, spatial, reachOf(loops, extents), padded.pads))
    return {};
  // Spatial dimensions of the image count as the loops over outputs.
  Read read{padded.image, SmallVector<int64_t>(padded.order.size())};
  LoopList inOrder{loops.batch, loops.channels(), loops.outputs()};
  for (auto [dim, loop] : llvm::zip_equal(padded.order, inOrder))
    read.loops[dim] = loop;
  onnx::Operator reduction = isMin                     ? op::ReduceMin
                             : kind == WindowKind::Max ? op::ReduceMax
                                                       : op::ReduceSum;
  SmallVector<int64_t> dims;
  Value value = isProduct ? multiplyWindows(op, loops, read, padded.pads, dims)
                          : poolWindows(loops, read, padded.pads, reduction, dims);
  if (!value)
    return {};
  value = finish(reshapeTo(value, sizesOf(dims, extents)), op.getIndexingMapsArray()[2], dims);
  return value ? combineInitial(op, 0, combiner, reduction, value) : Value();
}

} // namespace zero
