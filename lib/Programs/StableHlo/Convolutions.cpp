//===- Convolutions.cpp - convolutions of any layout ----------------------===//
//
// JAX writes a convolution and both of its gradients as the same op. The node with the same loops
// is chosen, since the library has a kernel for each:
//   - elements between those of the left operand (lhs_dilation): the gradient of an input,
//     zero::ConvGradX, with the kernel reversed;
//   - groups of the batch, or a kernel that is larger than the result: the gradient of a kernel,
//     zero::ConvGradW, in which kernel and result have changed places, and so have the strides and
//     the dilations of the kernel;
//   - any other: Conv.
//
//===----------------------------------------------------------------------===//

#include "Windows.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

namespace {
/// A convolution of lhs [batch, features, spatial...] with rhs [out, in, spatial...].
struct Convolution {
  WindowDims windows;
  int64_t groups, batchGroups;
  Value lhs, rhs;
  SmallVector<int64_t> output; ///< spatial sizes of the result

  SmallVector<int64_t> spatial(Value value) const {
    return llvm::to_vector(shapeOf(value).drop_front(2));
  }
};
} // namespace

/// The dimensions of a tensor in the order first, second, spatial; nothing if `dims` are others.
static std::optional<SmallVector<int64_t>> layoutOf(ArrayRef<int64_t> dims, int64_t rank,
                                                    int64_t first, int64_t second) {
  if (int64_t(dims.size()) != rank || rank < 3)
    return std::nullopt;
  SmallVector<int64_t> wanted{first, second}, layout;
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    wanted.push_back(dim);
  for (int64_t dim : wanted) {
    auto found = llvm::find(dims, dim);
    if (found == dims.end())
      return std::nullopt;
    layout.push_back(found - dims.begin());
  }
  return layout;
}

static SmallVector<int64_t> shapeWith(int64_t first, int64_t second, ArrayRef<int64_t> spatial) {
  return joined({first, second}, spatial);
}

/// `rhs` [groups out, in, ...] as [groups in, out, ...].
static Value swappedFeatures(Emitter &b, Value rhs, int64_t groups) {
  ArrayRef<int64_t> shape = shapeOf(rhs);
  const int64_t out = shape[0] / groups, in = shape[1];
  auto spatial = llvm::to_vector(shape.drop_front(2));
  if (groups == 1) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(shape.size()));
    std::swap(order[0], order[1]);
    return b.permuted(rhs, order);
  }
  Value split = b.reshaped(rhs, joined({groups, out, in}, spatial));
  auto order = llvm::to_vector(llvm::seq<int64_t>(shape.size() + 1));
  std::swap(order[1], order[2]);
  return b.reshaped(b.permuted(split, order), shapeWith(groups * in, out, spatial));
}

/// The padding behind an image of `extent` that `count` windows read; one that cuts off less than a
/// stride is none, since no window begins there.
static int64_t paddingBehind(int64_t extent, int64_t count, int64_t stride, int64_t reach,
                             int64_t low) {
  const int64_t high = (count - 1) * stride + reach + 1 - low - extent;
  return high < 0 && -high < stride ? 0 : high;
}

static Value emitForward(Emitter &b, const Convolution &conv) {
  const WindowDims &w = conv.windows;
  Value lhs = b.dilate(conv.lhs, joined({0, 0}, w.interior()));
  auto attrs = windowAttributes(b, w.strides, w.dilations, w.low, w.high);
  attrs.push_back(b.attr("group", conv.groups));
  auto shape = shapeWith(shapeOf(lhs)[0], shapeOf(conv.rhs)[0], conv.output);
  return b.one(op::Conv, tensorType(lhs).clone(shape), {lhs, conv.rhs}, attrs);
}

/// With the elements of `lhs` apart as by a stride. The kernel is already reversed.
static Value emitInputGradient(Emitter &b, const Convolution &conv) {
  const WindowDims &w = conv.windows;
  SmallVector<int64_t> low, high;
  for (int64_t dim = 0; dim < w.rank(); ++dim) {
    low.push_back(w.reach(dim) - w.low[dim]);
    high.push_back(paddingBehind(conv.output[dim], conv.spatial(conv.lhs)[dim],
                                 w.baseDilations[dim], w.reach(dim), low.back()));
  }
  auto attrs = windowAttributes(b, w.baseDilations, w.dilations, low, high);
  attrs.push_back(b.attr("group", conv.groups));
  auto shape = shapeWith(shapeOf(conv.lhs)[0], shapeOf(conv.rhs)[0], conv.output);
  return b.one(own::ConvGradX, tensorType(conv.lhs).clone(shape),
               {conv.lhs, swappedFeatures(b, conv.rhs, conv.groups)}, attrs);
}

/// The result [batch, out, ...] as the gradient of a kernel [out, batch, ...]: `lhs` is the image,
/// whose features are the batch, and `rhs` the gradient of the output.
static Value emitKernelGradient(Emitter &b, const Convolution &conv) {
  const WindowDims &w = conv.windows;
  Value lhs = b.dilate(conv.lhs, joined({0, 0}, w.interior()));
  auto order = llvm::to_vector(llvm::seq<int64_t>(shapeOf(lhs).size()));
  std::swap(order[0], order[1]);
  Value image = b.permuted(lhs, order), gradient = b.permuted(conv.rhs, order);
  SmallVector<int64_t> high;
  for (int64_t dim = 0; dim < w.rank(); ++dim)
    high.push_back(paddingBehind(conv.spatial(image)[dim], conv.spatial(gradient)[dim],
                                 w.dilations[dim], (conv.output[dim] - 1) * w.strides[dim],
                                 w.low[dim]));
  auto attrs = windowAttributes(b, w.dilations, w.strides, w.low, high);
  attrs.push_back(b.attr("group", conv.batchGroups));
  auto shape = shapeWith(shapeOf(conv.rhs)[0], shapeOf(lhs)[0] / conv.batchGroups, conv.output);
  Value result = b.one(own::ConvGradW, tensorType(lhs).clone(shape), {gradient, image}, attrs);
  return b.permuted(result, order);
}

/// Whether the form of an input's gradient fits: windows move by one.
static bool isInputGradient(const Convolution &conv) {
  auto isOne = [](int64_t number) { return number == 1; };
  return conv.batchGroups == 1 && llvm::all_of(conv.windows.strides, isOne) &&
         !llvm::all_of(conv.windows.baseDilations, isOne);
}

static bool isKernelGradient(const Convolution &conv) {
  return conv.batchGroups > 1 ||
         (conv.groups == 1 && productOf(conv.spatial(conv.rhs)) > productOf(conv.output));
}

/// The spatial dimensions of `layout` that are reversed.
static SmallVector<int64_t> reversedDims(ConvolutionOp op, ArrayRef<int64_t> layout) {
  SmallVector<int64_t> dims;
  if (auto flags = op.getWindowReversal())
    for (auto [flag, dim] : llvm::zip(*flags, layout.drop_front(2)))
      if (flag)
        dims.push_back(dim);
  llvm::sort(dims);
  return dims;
}

/// Whether groups divide features and batch, and the kernel is for them.
static bool groupsFit(const Convolution &conv) {
  ArrayRef<int64_t> lhs = shapeOf(conv.lhs), rhs = shapeOf(conv.rhs);
  return conv.groups > 0 && conv.batchGroups > 0 && (conv.groups == 1 || conv.batchGroups == 1) &&
         lhs[1] == rhs[1] * conv.groups && rhs[0] % conv.groups == 0 &&
         rhs[0] % conv.batchGroups == 0 && lhs[0] % conv.batchGroups == 0 && productOf(lhs) > 0 &&
         productOf(rhs) > 0;
}

static LogicalResult convolution(Operation *operation, Emitter &b,
                                 SmallVectorImpl<Value> &results) {
  auto op = cast<ConvolutionOp>(operation);
  Value lhs = op.getLhs(), rhs = op.getRhs();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  ConvAttr dims = op.getDimensionNumbers();
  const int64_t rank = type.getRank();
  auto left = layoutOf(dims.getLhs(), shapeOf(lhs).size(), kBatch, kFeature);
  auto right = layoutOf(dims.getRhs(), shapeOf(rhs).size(), kOutputFeature, kInputFeature);
  auto out = layoutOf(dims.getResult(), rank, kBatch, kFeature);
  if (!left || !right || !out || left->size() != right->size() || left->size() != out->size())
    return b.refuse("expected at least one spatial dimension, and one letter or number for each "
                    "dimension");
  if (!isa<FloatType>(type.getElementType()) || !isa<FloatType>(elementOf(lhs)) ||
      !isa<FloatType>(elementOf(rhs)))
    return b.refuse("expected floats");
  auto kernel = llvm::to_vector(ArrayRef(sizesOf(shapeOf(rhs), *right)).drop_front(2));
  auto windows = windowsOf(kernel, op.getWindowStridesAttr(), op.getPaddingAttr(),
                           op.getLhsDilationAttr(), op.getRhsDilationAttr());
  if (!windows)
    return b.refuse("expected a possible stride, padding and dilation for each spatial dimension");
  Convolution conv{*windows,
                   int64_t(op.getFeatureGroupCount()),
                   int64_t(op.getBatchGroupCount()),
                   b.permuted(b.cast(lhs, type.getElementType()), *left),
                   {},
                   {}};
  for (int64_t dim = 0; dim < windows->rank(); ++dim)
    conv.output.push_back(windows->count(dim, conv.spatial(conv.lhs)[dim]));
  auto reversed = reversedDims(op, *right);
  if (isInputGradient(conv)) {
    SmallVector<int64_t> all(right->begin() + 2, right->end());
    llvm::sort(all);
    rhs = b.reverse(rhs, reversed);
    rhs = b.reverse(rhs, all);
  } else {
    rhs = b.reverse(rhs, reversed);
  }
  conv.rhs = b.permuted(b.cast(rhs, type.getElementType()), *right);
  if (!groupsFit(conv) || productOf(conv.output) == 0)
    return b.refuse("expected features and batch that the groups divide, and no empty tensor");
  Value result = isInputGradient(conv)    ? emitInputGradient(b, conv)
                 : isKernelGradient(conv) ? emitKernelGradient(b, conv)
                                          : emitForward(b, conv);
  results.push_back(b.permuted(result, invertPermutationVector(*out)));
  return success();
}

void addConvolutionRules(RuleTable &table) { table["stablehlo.convolution"] = convolution; }

} // namespace zero::hlo
