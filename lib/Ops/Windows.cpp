//===- Windows.cpp - windows that slide over images -----------------------===//

#include "Windows.h"
#include "Movement.h"

using namespace mlir;

namespace zero::ops {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The integers of attribute `name`, of which there must be `count`; else `fallback`.
static FailureOr<SmallVector<int64_t>> list(onnx::NodeOp node, StringRef name, size_t count,
                                            int64_t fallback) {
  auto values = node.getInts(name);
  if (!values)
    return SmallVector<int64_t>(count, fallback);
  if (values->size() != count)
    return nodeError(node) << "expected " << count << " integers in attribute '" << name
                           << "', got " << values->size();
  return *values;
}

/// Pads so that there are ceil(input / stride) outputs; an odd one goes where the
/// mode says.
static void padToSame(Windows &windows, bool upper) {
  for (int64_t dim = 0; dim < windows.rank(); ++dim) {
    int64_t total = std::max<int64_t>(windows.span(dim) - windows.input[dim], 0);
    windows.padsBegin[dim] = upper ? total / 2 : total - total / 2;
    windows.padsEnd[dim] = total - windows.padsBegin[dim];
  }
}

static LogicalResult setPads(onnx::NodeOp node, Windows &windows) {
  StringRef mode = node.getString("auto_pad", "NOTSET");
  windows.padsBegin.assign(windows.rank(), 0);
  windows.padsEnd.assign(windows.rank(), 0);
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    padToSame(windows, mode == "SAME_UPPER");
  } else if (mode == "NOTSET" || mode.empty()) {
    auto pads = list(node, "pads", 2 * windows.rank(), 0);
    if (failed(pads))
      return failure();
    windows.padsBegin.assign(pads->begin(), pads->begin() + windows.rank());
    windows.padsEnd.assign(pads->begin() + windows.rank(), pads->end());
  } else if (mode != "VALID") {
    return nodeError(node) << "expected auto_pad 'NOTSET', 'SAME_UPPER', 'SAME_LOWER' or 'VALID', "
                              "got '"
                           << mode << "'";
  }
  return success();
}

/// Whether no size of `windows` and no sum of them comes near 64 bits.
static bool isMeasurable(const Windows &windows) {
  constexpr int64_t kMost = int64_t(1) << 40;
  for (int64_t dim = 0; dim < windows.rank(); ++dim) {
    int64_t moved, reach;
    if (llvm::MulOverflow(windows.output[dim], windows.strides[dim], moved) ||
        llvm::MulOverflow(windows.kernel[dim], windows.dilations[dim], reach) || moved > kMost ||
        reach > kMost || windows.input[dim] > kMost)
      return false;
  }
  return true;
}

FailureOr<Windows> windowsOf(onnx::NodeOp node, ArrayRef<int64_t> input, ArrayRef<int64_t> kernel,
                             ArrayRef<int64_t> output) {
  Windows windows;
  windows.input.assign(input.begin(), input.end());
  windows.kernel.assign(kernel.begin(), kernel.end());
  windows.output.assign(output.begin(), output.end());
  auto strides = list(node, "strides", input.size(), 1);
  auto dilations = list(node, "dilations", input.size(), 1);
  if (failed(strides) || failed(dilations))
    return failure();
  windows.strides = *strides;
  windows.dilations = *dilations;
  if (kernel.size() != input.size() || output.size() != input.size())
    return nodeError(node) << "expected a kernel and results of " << input.size()
                           << " spatial dimensions, got " << kernel.size() << " and "
                           << output.size();
  for (ArrayRef<int64_t> sizes : {kernel, ArrayRef(windows.strides), ArrayRef(windows.dilations)})
    for (int64_t size : sizes)
      if (size < 1)
        return nodeError(node) << "expected a kernel, strides and dilations of at least 1, got "
                               << size;
  if (!isMeasurable(windows))
    return nodeError(node) << "expected windows over at most 2^40 elements of a dimension";
  if (failed(setPads(node, windows)))
    return failure();
  return windows;
}

SmallVector<NamedAttribute> windowAttributes(NodeBuilder &builder, const Windows &windows) {
  SmallVector<int64_t> pads = windows.padsBegin;
  llvm::append_range(pads, windows.padsEnd);
  return {builder.attr("strides", windows.strides), builder.attr("dilations", windows.dilations),
          builder.attr("pads", pads)};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
/// Which indices of one dimension go where: index i of the source, from `first` on,
/// to i stride + offset of a target.
struct Line {
  int64_t first, count, target;

  Line(int64_t source, int64_t extent, int64_t offset, int64_t stride) {
    first = offset < 0 ? llvm::divideCeil(-offset, stride) : 0;
    target = first * stride + offset;
    int64_t room = target < extent ? (extent - 1 - target) / stride + 1 : 0;
    count = std::max<int64_t>(std::min(source - first, room), 0);
  }
};
} // namespace

/// Puts `value` [leading..., sizes...] into a tensor full of `fill` whose last
/// dimensions are `extents`, element i of each at i stride + offset.
static Value placed(ImplicitLocOpBuilder &b, Value value, ArrayRef<int64_t> extents,
                    ArrayRef<int64_t> offsets, ArrayRef<int64_t> strides, double fill) {
  RankedTensorType type = tensorType(value);
  int64_t leading = type.getRank() - extents.size();
  SmallVector<int64_t> shape(type.getShape().take_front(leading));
  llvm::append_range(shape, extents);
  Window from = Window::all(type.getShape()), to = Window::all(type.getShape());
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    Line line(type.getDimSize(leading + dim), extent, offsets[dim], strides[dim]);
    from.set(leading + dim, line.count ? line.first : 0, 1, line.count);
    to.set(leading + dim, line.count ? line.target : 0, strides[dim], line.count);
  }
  if (type.getShape() == ArrayRef<int64_t>(shape) && from.sizes == shape)
    return value;
  return put(b, cut(b, value, from), filled(b, type.clone(shape), fill), to);
}

Value paddedInput(ImplicitLocOpBuilder &b, Value value, const Windows &windows, double fill) {
  SmallVector<int64_t> spans;
  for (int64_t dim = 0; dim < windows.rank(); ++dim)
    spans.push_back(windows.span(dim));
  return placed(b, value, spans, windows.padsBegin, SmallVector<int64_t>(windows.rank(), 1), fill);
}

Value spreadOutput(ImplicitLocOpBuilder &b, Value value, const Windows &windows) {
  SmallVector<int64_t> extents, offsets;
  for (int64_t dim = 0; dim < windows.rank(); ++dim) {
    extents.push_back(windows.input[dim] + windows.reach(dim));
    offsets.push_back(windows.reach(dim) - windows.padsBegin[dim]);
  }
  return placed(b, value, extents, offsets, windows.strides, 0);
}

SmallVector<AffineExpr> windowExprs(const Windows &windows, ArrayRef<AffineExpr> outputs,
                                    ArrayRef<AffineExpr> elements) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < windows.rank(); ++dim)
    exprs.push_back(outputs[dim] * windows.strides[dim] + elements[dim] * windows.dilations[dim]);
  return exprs;
}

SmallVector<AffineExpr> spreadExprs(const Windows &windows, ArrayRef<AffineExpr> inputs,
                                    ArrayRef<AffineExpr> elements) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < windows.rank(); ++dim)
    exprs.push_back(inputs[dim] + windows.reach(dim) - elements[dim] * windows.dilations[dim]);
  return exprs;
}

/// `value` with its spatial dimensions joined.
static Value flat(ImplicitLocOpBuilder &b, Value value, int64_t rank) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape().drop_back(rank));
  int64_t elements = 1;
  for (int64_t size : type.getShape().take_back(rank))
    elements *= size;
  shape.push_back(elements);
  return reshaped(b, value, type.clone(shape));
}

Value flatInput(ImplicitLocOpBuilder &b, Value value, const Windows &windows) {
  SmallVector<int64_t> extents;
  for (int64_t dim = 0; dim < windows.rank(); ++dim)
    extents.push_back(windows.span(dim));
  extents.front() += windows.rank() > 1;
  const SmallVector<int64_t> ones(windows.rank(), 1);
  return flat(b, placed(b, value, extents, windows.padsBegin, ones, 0), windows.rank());
}

Value flatOutput(ImplicitLocOpBuilder &b, Value value, const Windows &windows) {
  SmallVector<int64_t> extents;
  for (int64_t dim = 0; dim < windows.rank(); ++dim)
    extents.push_back(windows.span(dim));
  extents.front() -= windows.reach(0);
  const SmallVector<int64_t> none(windows.rank(), 0);
  return flat(b, placed(b, value, extents, none, windows.strides, 0), windows.rank());
}

AffineExpr flatExpr(const Windows &windows, AffineExpr output, ArrayRef<AffineExpr> elements) {
  int64_t stride = 1;
  for (int64_t dim = windows.rank(); dim-- > 0;) {
    output = output + elements[dim] * (windows.dilations[dim] * stride);
    stride *= windows.span(dim);
  }
  return output;
}

} // namespace zero::ops
