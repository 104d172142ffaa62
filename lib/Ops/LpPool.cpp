//===- LpPool.cpp - pooling by p-norms ------------------------------------===//
//
// ONNX: LpPool, opset 18, with pads, auto_pad, strides, dilations and ceil_mode; GlobalLpPool,
// opset 2, whose window is as large as the image. A window becomes (sum of |x|^p)^(1/p); elements
// outside of the image count as zeros.
//
// Expanded into an AveragePool of |x|^p, times the elements of a window. As for ReduceL2, there is
// no finite derivative at a window of zeros.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Windows.h"

using namespace mlir;

namespace zero::ops {

/// |x|^p.
static Value powered(NodeBuilder &builder, Value x, int64_t p) {
  if (p == 2)
    return builder.mul(x, x);
  Value size = builder.unary(op::Abs, x);
  return p == 1 ? size : builder.binary(op::Pow, size, builder.scalar(double(p), x.getType()));
}

/// The p-th root of `sum`.
static Value rootOf(NodeBuilder &builder, Value sum, int64_t p) {
  if (p == 1)
    return sum;
  return p == 2 ? builder.unary(op::Sqrt, sum)
                : builder.binary(op::Pow, sum, builder.scalar(1.0 / double(p), sum.getType()));
}

static FailureOr<int64_t> exponentOf(onnx::NodeOp node) {
  const int64_t p = node.getInt("p", 2);
  if (p < 1)
    return nodeError(node) << "expected p of at least 1, got " << p;
  return p;
}

static LogicalResult expandLpPool(onnx::NodeOp node, NodeBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  RankedTensorType x = node.inputType(0), y = node.outputType(0);
  auto kernel = node.getInts("kernel_shape");
  if (x.getRank() < 3 || !kernel)
    return nodeError(node) << "expected a kernel_shape and an image of at least 3 dimensions, got "
                           << x;
  FailureOr<int64_t> p = exponentOf(node);
  FailureOr<Windows> windows =
      windowsOf(node, x.getShape().drop_front(2), *kernel, y.getShape().drop_front(2));
  if (failed(p) || failed(windows))
    return failure();
  // The mean divides by the pads that it is told of. In ceil_mode windows may reach further.
  for (auto [dim, pad] : llvm::enumerate(windows->padsEnd))
    pad = std::max<int64_t>(windows->span(dim) - windows->input[dim] - windows->padsBegin[dim], 0);
  SmallVector<NamedAttribute> attributes = windowAttributes(builder, *windows);
  attributes.push_back(builder.attr("kernel_shape", *kernel));
  attributes.push_back(builder.attr("count_include_pad", int64_t(1)));
  Value means =
      builder.create(op::AveragePool, y, powered(builder, node.getInputs()[0], *p), attributes)
          .getResult(0);
  const double elements = double(ShapedType::getNumElements(*kernel));
  results.push_back(
      rootOf(builder, builder.mul(means, builder.scalar(elements, means.getType())), *p));
  return success();
}

static LogicalResult expandGlobalLpPool(onnx::NodeOp node, NodeBuilder &builder,
                                        SmallVectorImpl<Value> &results) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, node.inputType(0).getRank()));
  FailureOr<int64_t> p = exponentOf(node);
  if (failed(p))
    return failure();
  Value sum = builder.reduceSum(powered(builder, node.getInputs()[0], *p), axes, true);
  results.push_back(rootOf(builder, sum, *p));
  return success();
}

void registerLpPool() {
  OpDef windows{{"", "LpPool"}, 18, kNewestOpset, Kind::Other};
  windows.expand = expandLpPool;
  registerOp(windows);
  OpDef global{{"", "GlobalLpPool"}, 2, kNewestOpset, Kind::Other};
  global.expand = expandGlobalLpPool;
  registerOp(global);
}

} // namespace zero::ops
