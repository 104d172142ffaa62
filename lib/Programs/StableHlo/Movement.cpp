//===- Movement.cpp - ops that move elements ------------------------------===//

#include "Rules.h"

#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

static LogicalResult constant(Operation *, Emitter &b, SmallVectorImpl<Value> &) {
  return b.refuse("expected the values of the constant in the file; print them all, with "
                  "large_elements_limit=None");
}

static LogicalResult iota(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  const uint64_t axis = cast<IotaOp>(op).getIotaDimension();
  if (axis >= uint64_t(type.getRank()) || isBool(type.getElementType()))
    return b.refuse("expected numbers along a dimension of the result");
  Value line = b.line(type.getRank(), axis, type.getDimSize(axis));
  results.push_back(b.expand(b.cast(line, type.getElementType()), type.getShape()));
  return success();
}

static LogicalResult broadcastInDim(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  ArrayRef<int64_t> dims = cast<BroadcastInDimOp>(op).getBroadcastDimensions();
  ArrayRef<int64_t> shape = shapeOf(x), result = shapeOf(op->getResult(0));
  if (dims.size() != shape.size() || !areDims(dims, result.size()))
    return b.refuse("expected one dimension of the result for each of the operand");
  SmallVector<int64_t> aligned(result.size(), 1);
  for (auto [size, dim] : llvm::zip_equal(shape, dims)) {
    if (size != 1 && size != result[dim])
      return b.refuse("expected dimensions of size 1 or of the size in the result");
    aligned[dim] = size;
  }
  // The operand's dimensions in the order in which the result has them.
  auto order = llvm::to_vector(llvm::seq<int64_t>(dims.size()));
  llvm::sort(order, [&](int64_t i, int64_t j) { return dims[i] < dims[j]; });
  x = b.permuted(x, order);
  if (productOf(shape) == productOf(result)) {
    results.push_back(b.reshaped(x, result));
    return success();
  }
  // Nodes add dimensions in front of others themselves.
  ArrayRef<int64_t> needed(aligned);
  while (needed.size() > shape.size() && needed.front() == 1)
    needed = needed.drop_front();
  results.push_back(b.expand(b.reshaped(x, needed), result));
  return success();
}

static LogicalResult reshape(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  ArrayRef<int64_t> result = shapeOf(op->getResult(0));
  if (productOf(shapeOf(op->getOperand(0))) != productOf(result))
    return b.refuse("expected as many elements in the result as in the operand");
  results.push_back(b.reshaped(op->getOperand(0), result));
  return success();
}

/// The transpose of a product of matrices that nothing else reads: the product of the transposed
/// operands in the other order. JAX computes the gradient of weights so.
static Value transposedProduct(Emitter &b, Value x, ArrayRef<int64_t> permutation) {
  auto node = x.getDefiningOp<onnx::NodeOp>();
  if (!node || !node.is(op::MatMul) || !x.hasOneUse() || permutation != ArrayRef<int64_t>({1, 0}))
    return {};
  Value left = node.getInputs()[0], right = node.getInputs()[1];
  if (shapeOf(left).size() != 2 || shapeOf(right).size() != 2)
    return {};
  return b.matmul(b.swapped(right), b.swapped(left));
}

static LogicalResult transpose(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  ArrayRef<int64_t> permutation = cast<TransposeOp>(op).getPermutation();
  const int64_t rank = shapeOf(op->getOperand(0)).size();
  if (int64_t(permutation.size()) != rank || !areDims(permutation, rank))
    return b.refuse("expected a permutation of the dimensions");
  Value product = transposedProduct(b, op->getOperand(0), permutation);
  results.push_back(product ? product : b.permuted(op->getOperand(0), permutation));
  return success();
}

static LogicalResult reverse(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  ArrayRef<int64_t> dims = cast<ReverseOp>(op).getDimensions();
  if (!areDims(dims, shapeOf(op->getOperand(0)).size()))
    return b.refuse("expected distinct dimensions of the operand");
  results.push_back(b.reverse(op->getOperand(0), dims));
  return success();
}

static LogicalResult concatenate(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  const uint64_t axis = cast<ConcatenateOp>(op).getDimension();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> parts;
  for (Value part : op->getOperands()) {
    if (tensorType(part).getRank() != type.getRank() || axis >= uint64_t(type.getRank()) ||
        elementOf(part) != type.getElementType() ||
        sizesOf(shapeOf(part), otherDims(type.getRank(), axis)) !=
            sizesOf(type.getShape(), otherDims(type.getRank(), axis)))
      return b.refuse("expected tensors that differ in one dimension only");
    if (shapeOf(part)[axis] > 0 || op->getNumOperands() == 1)
      parts.push_back(part);
  }
  if (parts.empty())
    return b.refuse("expected elements to concatenate");
  results.push_back(b.concat(parts, axis));
  return success();
}

static LogicalResult slice(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  constexpr int64_t kMost = int64_t(1) << 40;
  auto slice = cast<SliceOp>(op);
  ArrayRef<int64_t> shape = shapeOf(slice.getOperand()), starts = slice.getStartIndices(),
                    limits = slice.getLimitIndices(), strides = slice.getStrides();
  bool fits = starts.size() == shape.size() && limits.size() == shape.size() &&
              strides.size() == shape.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits = starts[dim] >= 0 && starts[dim] <= limits[dim] && limits[dim] <= shape[dim] &&
           strides[dim] > 0 && strides[dim] <= kMost;
  if (!fits)
    return b.refuse("expected starts, limits and strides within the operand");
  results.push_back(b.slice(slice.getOperand(), starts, limits, strides));
  return success();
}

static LogicalResult pad(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  auto pad = cast<PadOp>(op);
  Value x = pad.getOperand(), fill = pad.getPaddingValue();
  ArrayRef<int64_t> shape = shapeOf(x), low = pad.getEdgePaddingLow(),
                    high = pad.getEdgePaddingHigh(), interior = pad.getInteriorPadding();
  constexpr int64_t kMost = int64_t(1) << 40;
  auto isSize = [](int64_t count) { return count <= kMost && count >= -kMost; };
  bool fits = low.size() == shape.size() && high.size() == shape.size() &&
              interior.size() == shape.size() && shapeOf(fill).empty() &&
              elementOf(fill) == elementOf(x);
  for (size_t dim = 0; fits && dim < shape.size(); ++dim) {
    int64_t spread = 0;
    fits = isSize(low[dim]) && isSize(high[dim]) && interior[dim] >= 0 && interior[dim] <= kMost &&
           !llvm::MulOverflow(shape[dim], interior[dim] + 1, spread) && spread <= kMost;
    fits = fits && spread - (shape[dim] > 0 ? interior[dim] : 0) + low[dim] + high[dim] >= 0;
  }
  if (!fits)
    return b.refuse("expected paddings of a possible size for each dimension, and a scalar");
  results.push_back(b.pad(b.spread(x, interior, fill), low, high, fill));
  return success();
}

void addMovementRules(RuleTable &table) {
  table["stablehlo.constant"] = constant;
  table["stablehlo.iota"] = iota;
  table["stablehlo.broadcast_in_dim"] = broadcastInDim;
  table["stablehlo.reshape"] = reshape;
  table["stablehlo.transpose"] = transpose;
  table["stablehlo.reverse"] = reverse;
  table["stablehlo.concatenate"] = concatenate;
  table["stablehlo.slice"] = slice;
  table["stablehlo.pad"] = pad;
}

} // namespace zero::hlo
