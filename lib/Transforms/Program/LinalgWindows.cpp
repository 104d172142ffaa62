//===- LinalgWindows.cpp - convolutions and pooling as nodes --------------===//
//
// A convolution reads an image at the position of an output, times a stride, plus the position in a
// window, times a dilation. Batch, channels and groups may be in any order, and spatial dimensions
// of any number: operands are transposed to those of ONNX.
//
//===----------------------------------------------------------------------===//

#include "zero/Transforms/Program/LinalgNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {

namespace {
/// A spatial dimension of the image: the loops over outputs and over the window, and their factors.
struct WindowDim {
  int64_t output, window, stride, dilation;
};

/// The loops of a convolution or a pooling.
struct WindowLoops {
  SmallVector<WindowDim> spatial;
  SmallVector<int64_t> batch, groups, inner, outer; // inner and outer channels

  SmallVector<int64_t> outputs() const {
    return llvm::map_to_vector(spatial, [](const WindowDim &dim) { return dim.output; });
  }
  SmallVector<int64_t> windows() const {
    return llvm::map_to_vector(spatial, [](const WindowDim &dim) { return dim.window; });
  }
};
} // namespace

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

/// The attributes of the node, and the image cut to what its windows cover: a node has as many
/// outputs as fit.
static SmallVector<NamedAttribute> windowAttrs(NodeBuilder &nodes, const WindowLoops &loops,
                                               ArrayRef<int64_t> extents, ArrayRef<int64_t> pads) {
  SmallVector<int64_t> kernel, strides, dilations;
  for (const WindowDim &dim : loops.spatial) {
    kernel.push_back(extents[dim.window]);
    strides.push_back(dim.stride);
    dilations.push_back(dim.dilation);
  }
  return {nodes.attr("kernel_shape", kernel), nodes.attr("strides", strides),
          nodes.attr("dilations", dilations), nodes.attr("pads", pads)};
}

/// A Conv, MaxPool or AveragePool.
Value LinalgNodes::convolution(linalg::LinalgOp op) {
  WindowLoops loops = *windowLoops(op);
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  std::optional<WindowKind> kind = kindOf(op, combiner);
  Value image = kind ? translate(op.getDpsInputs()[0]) : Value();
  if (!image)
    return {};
  bool isProduct = kind == WindowKind::Product, isMin = kind == WindowKind::Min;
  if (!isProduct && (!loops.groups.empty() || !loops.inner.empty() || !loops.outer.empty()))
    return {};
  auto element = cast<FloatType>(tensorType(image).getElementType());
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  APFloat fill = isProduct || kind == WindowKind::Sum ? APFloat::getZero(semantics)
                                                      : APFloat::getInf(semantics, !isMin);

  // The dimensions of the image, in ONNX's order.
  SmallVector<int64_t> channels(loops.groups), order, added, batch(loops.batch);
  llvm::append_range(channels, loops.inner);
  AffineMap map = op.getIndexingMapsArray()[0];
  auto dimOf = [&](int64_t loop) {
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(loop))
        return int64_t(dim);
    return int64_t(-1);
  };
  for (ArrayRef<int64_t> part : {ArrayRef(batch), ArrayRef(channels)})
    for (int64_t loop : part)
      order.push_back(dimOf(loop));
  for (const WindowDim &dim : loops.spatial)
    order.push_back(dimOf(dim.output));
  size_t first = batch.size() + channels.size();
  Value inside = withoutPads(image, fill, added);
  bool onlySpatial = llvm::all_of(ArrayRef(order).take_front(first), [&](int64_t dim) {
    return added[dim] == 0 && added[added.size() / 2 + dim] == 0;
  });
  if (!onlySpatial || llvm::any_of(added, [](int64_t count) { return count < 0; })) {
    inside = image;
    added.assign(added.size(), 0);
  }
  SmallVector<int64_t> pads;
  for (int64_t half : {int64_t(0), int64_t(added.size() / 2)})
    for (int64_t dim : ArrayRef(order).drop_front(first))
      pads.push_back(added[half + dim]);
  // Elements beyond the last window.
  for (auto [position, dim] : llvm::enumerate(loops.spatial)) {
    int64_t axis = order[first + position];
    int64_t covered =
        (extents[dim.output] - 1) * dim.stride + (extents[dim.window] - 1) * dim.dilation + 1;
    int64_t have = tensorType(inside).getDimSize(axis) + pads[position];
    int64_t &after = pads[loops.spatial.size() + position];
    if (covered < have) {
      if (covered <= pads[position])
        return {};
      inside = slice(inside, axis, 0, covered - pads[position]);
      have = covered;
    }
    after = covered - have;
  }
  SmallVector<int64_t> spatial, outputs;
  inside = transposeTo(inside, order);
  for (int64_t extent : tensorType(inside).getShape().drop_front(first))
    spatial.push_back(extent);
  for (const WindowDim &dim : loops.spatial)
    outputs.push_back(extents[dim.output]);
  // Without channels, the last dimension of a batch counts as one.
  if (!isProduct && batch.size() > 1)
    channels.push_back(batch.pop_back_val());
  SmallVector<int64_t> shape{countOf(batch, extents), countOf(channels, extents)}, result(shape);
  llvm::append_range(shape, spatial);
  if (isProduct)
    result[1] = countOf(loops.groups, extents) * countOf(loops.outer, extents);
  llvm::append_range(result, outputs);
  inside = reshapeTo(inside, shape);
  RankedTensorType type = tensorType(inside).clone(result);
  SmallVector<NamedAttribute> attrs = windowAttrs(nodes, loops, extents, pads);
  Value value;
  if (isProduct) {
    Value weights = translate(op.getDpsInputs()[1]);
    if (!weights)
      return {};
    Read read = this->read(weights, op.getIndexingMapsArray()[1]);
    SmallVector<int64_t> wanted(loops.groups), permutation;
    for (ArrayRef<int64_t> part : {ArrayRef(loops.outer), ArrayRef(loops.inner)})
      llvm::append_range(wanted, part);
    llvm::append_range(wanted, loops.windows());
    for (int64_t loop : wanted)
      permutation.push_back(llvm::find(read.loops, loop) - read.loops.begin());
    SmallVector<int64_t> weightShape{result[1], countOf(loops.inner, extents)};
    for (int64_t loop : loops.windows())
      weightShape.push_back(extents[loop]);
    weights = reshapeTo(transposeTo(read.tensor, permutation), weightShape);
    attrs.push_back(nodes.attr("group", countOf(loops.groups, extents)));
    value = nodes.create(op::Conv, type, {inside, weights}, attrs).getResult(0);
  } else if (kind == WindowKind::Sum) {
    attrs.push_back(nodes.attr("count_include_pad", int64_t(1)));
    value = nodes.create(op::AveragePool, type, inside, attrs).getResult(0);
    value = nodes.mul(value, nodes.scalar(double(countOf(loops.windows(), extents)), type));
  } else {
    if (isMin)
      inside = nodes.neg(inside);
    value = nodes.create(op::MaxPool, type, inside, attrs).getResult(0);
    if (isMin)
      value = nodes.neg(value);
  }
  // Back to the loops of the result.
  SmallVector<int64_t> dims(loops.batch);
  llvm::append_range(dims, loops.groups);
  llvm::append_range(dims, loops.outer);
  llvm::append_range(dims, loops.outputs());
  SmallVector<int64_t> split;
  for (int64_t loop : dims)
    split.push_back(extents[loop]);
  value = finish(reshapeTo(value, split), op.getIndexingMapsArray()[2], dims);
  onnx::Operator reduction = isMin                     ? op::ReduceMin
                             : kind == WindowKind::Max ? op::ReduceMax
                                                       : op::ReduceSum;
  return value ? combineInitial(op, 0, combiner, reduction, value) : Value();
}

} // namespace zero
