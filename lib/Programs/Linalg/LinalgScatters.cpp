//===- LinalgScatters.cpp - scatters and scans as nodes -------------------===//

#include "zero/Programs/Linalg/ScatterNodes.h"

#include "dialects/Onnx/Operators.h"
#include "dialects/TmTensor/TmTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zero {

using Results = FailureOr<SmallVector<Value>>;

/// Whether `dims` are the first dimensions, in order.
static bool areFirst(ArrayRef<int64_t> dims) {
  for (auto [position, dim] : llvm::enumerate(dims))
    if (dim != int64_t(position))
      return false;
  return true;
}

/// How a region combines its first argument with the second, in words of ScatterND; empty if it
/// does something else.
static StringRef reductionOf(Region &region) {
  if (!region.hasOneBlock() || region.getNumArguments() != 2)
    return "";
  Block &body = region.front();
  Operation *end = body.getTerminator();
  if (end->getNumOperands() != 1)
    return "";
  Value update = body.getArgument(0), element = body.getArgument(1);
  if (end->getOperand(0) == update)
    return "none";
  Operation *combiner = end->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 ||
      !llvm::is_contained(combiner->getOperands(), update) ||
      !llvm::is_contained(combiner->getOperands(), element) || element.getType().isInteger(1))
    return "";
  return llvm::TypeSwitch<Operation *, StringRef>(combiner)
      .Case<arith::AddFOp, arith::AddIOp>([](Operation *) { return "add"; })
      .Case<arith::MulFOp, arith::MulIOp>([](Operation *) { return "mul"; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](Operation *) { return "max"; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](Operation *) { return "min"; })
      .Default([](Operation *) { return ""; });
}

/// The updates of a scatter without the dimensions of one element that stand for those that
/// `depth` indices select.
static Value slicesOf(Value updates, RankedTensorType into, int64_t depth, NodeBuilder &nodes) {
  RankedTensorType type = tensorType(updates);
  if (type.getRank() != into.getRank() + 1)
    return updates;
  ArrayRef<int64_t> selected = type.getShape().slice(1, depth);
  if (llvm::any_of(selected, [](int64_t size) { return size != 1; }))
    return updates;
  SmallVector<int64_t> shape{type.getDimSize(0)};
  llvm::append_range(shape, type.getShape().drop_front(1 + depth));
  return nodes.reshape(updates, shape);
}

static Results scatter(tm_tensor::ScatterOp op, NodeBuilder &nodes) {
  if (op.getInputs().size() != 2 || op.getOutputs().size() != 1 || op->getNumResults() != 1)
    return failure();
  Value updates = op.getInputs()[0], indices = op.getInputs()[1], into = op.getOutputs()[0];
  auto isTensor = [](Value value) { return isa<RankedTensorType>(value.getType()); };
  StringRef reduction = reductionOf(op.getBody());
  if (!isTensor(updates) || !isTensor(indices) || !isTensor(into) || reduction.empty() ||
      !areFirst(op.getDimensionMap()))
    return failure();
  RankedTensorType at = tensorType(indices), to = tensorType(into);
  int64_t depth = op.getDimensionMap().size();
  if (to.getRank() < depth)
    return failure();
  updates = slicesOf(updates, to, depth, nodes);
  RankedTensorType from = tensorType(updates);
  if (at.getRank() != 2 || at.getDimSize(1) != depth || from.getRank() < 1 ||
      to.getShape().drop_front(depth) != from.getShape().drop_front(1) ||
      from.getDimSize(0) != at.getDimSize(0))
    return failure();
  indices = nodes.cast(indices, nodes.getBuilder().getI64Type());
  NamedAttribute how = nodes.attr("reduction", reduction);
  auto node = nodes.create(op::ScatterND, to, {into, indices, updates}, how);
  return SmallVector<Value>{node.getResult(0)};
}

/// A running sum or product whose last value nothing reads.
static Results scan(tm_tensor::ScanOp op, NodeBuilder &nodes) {
  if (op.getInputs().size() != 1 || op.getOutputs().size() != 2 || op->getNumResults() != 2 ||
      !op.getResults()[1].use_empty() || !isa<RankedTensorType>(op.getInputs()[0].getType()))
    return failure();
  StringRef how = reductionOf(op.getBody());
  Value input = op.getInputs()[0], start = op.getOutputs()[1];
  DenseElementsAttr elements;
  if (!matchPattern(start, m_Constant(&elements)) || !elements.isSplat())
    return failure();
  bool isSum =
      how == "add" && (matchPattern(start, m_AnyZeroFloat()) || matchPattern(start, m_Zero()));
  bool isProduct = how == "mul" && matchPattern(start, m_OneFloat());
  if (!isSum && !isProduct)
    return failure();
  Value axis = nodes.indices(int64_t(op.getDimension()));
  Value axisOfSum = nodes.scalar(double(op.getDimension()), axis.getType());
  NamedAttribute exclusive = nodes.attr("exclusive", int64_t(!op.getInclusive()));
  auto node = isSum ? nodes.create(op::CumSum, input.getType(), {input, axisOfSum}, exclusive)
                    : nodes.create(own::CumProd, input.getType(), {input, axis}, exclusive);
  return SmallVector<Value>{node.getResult(0), Value()};
}

/// Whether the region of a sort puts the larger ones of its first two arguments first, or the
/// smaller ones.
static std::optional<bool> sortsDown(Region &region) {
  if (!region.hasOneBlock() || region.getNumArguments() < 2 ||
      region.front().getTerminator()->getNumOperands() != 1)
    return std::nullopt;
  Operation *test = region.front().getTerminator()->getOperand(0).getDefiningOp();
  if (!test || test->getNumOperands() != 2 || test->getOperand(0) != region.getArgument(0) ||
      test->getOperand(1) != region.getArgument(1))
    return std::nullopt;
  if (auto floats = dyn_cast<arith::CmpFOp>(test)) {
    using P = arith::CmpFPredicate;
    if (llvm::is_contained({P::OGT, P::OGE}, floats.getPredicate()))
      return true;
    if (llvm::is_contained({P::OLT, P::OLE}, floats.getPredicate()))
      return false;
  }
  if (auto integers = dyn_cast<arith::CmpIOp>(test)) {
    using P = arith::CmpIPredicate;
    if (llvm::is_contained({P::sgt, P::sge}, integers.getPredicate()))
      return true;
    if (llvm::is_contained({P::slt, P::sle}, integers.getPredicate()))
      return false;
  }
  return std::nullopt;
}

/// Values in order, and another tensor in the same order.
static Results sort(tm_tensor::SortOp op, NodeBuilder &nodes) {
  std::optional<bool> down = sortsDown(op.getBody());
  if (!op.getInputs().empty() || op.getOutputs().size() != 2 || op->getNumResults() != 2 || !down ||
      !isa<RankedTensorType>(op.getOutputs()[0].getType()))
    return failure();
  Value values = op.getOutputs()[0], others = op.getOutputs()[1];
  RankedTensorType type = tensorType(values);
  const int64_t axis = op.getDimension();
  auto sorted = nodes.create(op::TopK, {type, type.clone(nodes.getBuilder().getI64Type())},
                             {values, nodes.indices(type.getDimSize(axis))},
                             {nodes.attr("axis", axis), nodes.attr("largest", int64_t(*down)),
                              nodes.attr("sorted", int64_t(1))});
  Value moved = nodes
                    .create(op::GatherElements, others.getType(), {others, sorted.getResult(1)},
                            nodes.attr("axis", axis))
                    .getResult(0);
  return SmallVector<Value>{sorted.getResult(0), moved};
}

/// The shape of slices of `type` without the dimensions of `dims`, the first ones.
static ArrayRef<int64_t> restOf(RankedTensorType type, ArrayRef<int64_t> dims) {
  return type.getShape().drop_front(dims.size());
}

static Results gather(tensor::GatherOp op, NodeBuilder &nodes) {
  if (!areFirst(op.getGatherDims()))
    return failure();
  RankedTensorType source = op.getSourceType(), indices = op.getIndicesType();
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  llvm::append_range(shape, restOf(source, op.getGatherDims()));
  Value at = nodes.cast(op.getIndices(), nodes.getBuilder().getI64Type());
  Value value = nodes.create(op::GatherND, source.clone(shape), {op.getSource(), at}).getResult(0);
  return SmallVector<Value>{nodes.reshape(value, op.getResultType().getShape())};
}

static Results scatter(tensor::ScatterOp op, NodeBuilder &nodes) {
  if (!areFirst(op.getScatterDims()))
    return failure();
  RankedTensorType into = op.getDestType(), indices = op.getIndicesType();
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  llvm::append_range(shape, restOf(into, op.getScatterDims()));
  Value at = nodes.cast(op.getIndices(), nodes.getBuilder().getI64Type());
  Value updates = nodes.reshape(op.getSource(), shape);
  return SmallVector<Value>{
      nodes.create(op::ScatterND, into, {op.getDest(), at, updates}).getResult(0)};
}

Results scatterNodes(Operation *op, NodeBuilder &nodes) {
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case([&](tm_tensor::ScatterOp scattered) { return scatter(scattered, nodes); })
      .Case([&](tm_tensor::ScanOp scanned) { return scan(scanned, nodes); })
      .Case([&](tm_tensor::SortOp sorted) { return sort(sorted, nodes); })
      .Case([&](tensor::GatherOp gathered) { return gather(gathered, nodes); })
      .Case([&](tensor::ScatterOp scattered) { return scatter(scattered, nodes); })
      .Default([](Operation *) -> Results { return failure(); });
}

} // namespace zero
