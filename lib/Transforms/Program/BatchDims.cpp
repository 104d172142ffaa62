//===- BatchDims.cpp - dimensions that nodes work along -------------------===//

#include "BatchDims.h"

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/NodeBuilder.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {

bool isReduction(onnx::NodeOp node) {
  return node.isAnyOf({op::ReduceSum, op::ReduceMean, op::ReduceMax, op::ReduceMin, op::ReduceProd,
                       op::ReduceSumSquare, op::ReduceL1, op::ReduceL2});
}

/// The numbers of operand `index` or, without it, of attribute `name`.
static std::optional<SmallVector<int64_t>> numbers(onnx::NodeOp node, unsigned index,
                                                   StringRef name) {
  if (!node.hasInput(index))
    return node.getInts(name);
  DenseIntElementsAttr given;
  if (!matchPattern(node.getInputs()[index], m_Constant(&given)))
    return std::nullopt;
  return llvm::map_to_vector(given.getValues<APInt>(),
                             [](const APInt &value) { return value.getSExtValue(); });
}

/// `axes` as dimensions of a tensor of `rank` dimensions.
static SmallVector<int64_t> normalized(ArrayRef<int64_t> axes, int64_t rank) {
  return llvm::map_to_vector(axes, [&](int64_t axis) { return axis < 0 ? axis + rank : axis; });
}

FailureOr<SmallVector<int64_t>> reducedAxes(onnx::NodeOp node) {
  auto axes = listedAxes(node);
  if (!axes)
    return failure();
  if (axes->empty())
    return llvm::to_vector(llvm::seq<int64_t>(node.inputType(0).getRank()));
  return *axes;
}

int64_t normalAxis(onnx::NodeOp node, int64_t rank) {
  return normalized(node.getInt("axis", 0), rank).front();
}

std::optional<SmallVector<int64_t>> workingAxes(onnx::NodeOp node) {
  const int64_t rank =
      node.getNumOperands() > 0 && node.hasInput(0) ? node.inputType(0).getRank() : 0;
  if (node.isAnyOf({op::Softmax, op::LogSoftmax}))
    return normalized(node.getInt("axis", -1), rank);
  if (node.isAnyOf({op::Concat, op::GatherElements, op::ScatterElements, own::GatherElementsGrad,
                    op::Split}))
    return SmallVector<int64_t>{normalAxis(node, rank)};
  if (node.is(op::Slice))
    if (auto axes = numbers(node, 3, "axes"))
      return normalized(*axes, rank);
  if (node.is(op::CumSum))
    if (auto axis = numbers(node, 1, "axis"))
      return normalized(*axis, rank);
  return std::nullopt;
}

bool isSetting(onnx::NodeOp node, OpOperand &operand) {
  return node.isAnyOf({op::Slice, op::CumSum, op::Split}) && operand.getOperandNumber() > 0;
}

DenseElementsAttr shortened(DenseElementsAttr value, int64_t dim, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  if (value.isSplat())
    return value.resizeSplat(type);
  const int64_t from = cast<RankedTensorType>(value.getType()).getDimSize(dim), to = shape[dim];
  int64_t inner = 1;
  for (int64_t extent : shape.drop_front(dim + 1))
    inner *= extent;
  SmallVector<Attribute> elements, kept;
  llvm::append_range(elements, value.getValues<Attribute>());
  for (auto [index, element] : llvm::enumerate(elements)) {
    const int64_t along = int64_t(index) / inner % from;
    if (element != elements[index - along * inner])
      return {};
    if (along < to)
      kept.push_back(element);
  }
  return DenseElementsAttr::get(type, kept);
}

std::optional<int64_t> dimAfterReshape(ArrayRef<int64_t> from, int64_t dim, ArrayRef<int64_t> to,
                                       int64_t parts) {
  auto product = [](ArrayRef<int64_t> extents) {
    int64_t result = 1;
    for (int64_t extent : extents)
      result *= extent;
    return result;
  };
  const int64_t before = product(from.take_front(dim));
  for (size_t index = 0; index < to.size(); ++index)
    if (product(to.take_front(index)) == before && to[index] > 1)
      return to[index] % parts == 0 ? std::optional<int64_t>(index) : std::nullopt;
  return std::nullopt;
}

bool isZero(Value value) {
  if (auto expand = value.getDefiningOp<onnx::NodeOp>(); expand && expand.is(op::Expand))
    value = expand.getInputs().front();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

bool isFloatTensor(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

} // namespace zero
