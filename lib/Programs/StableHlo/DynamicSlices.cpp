//===- DynamicSlices.cpp - slices at computed indices ---------------------===//
//
// The first index is clamped so that the slice is within the tensor.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "Stacks.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

/// Whether `sizes` of a slice fit into `shape`, with one scalar integer for each dimension.
static bool fits(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes, ValueRange starts) {
  if (starts.size() != shape.size() || sizes.size() != shape.size())
    return false;
  for (auto [size, taken, start] : llvm::zip_equal(shape, sizes, starts))
    if (taken < 0 || taken > size || !shapeOf(start).empty() ||
        !isa<IntegerType>(elementOf(start)) || isBool(elementOf(start)))
      return false;
  return true;
}

/// `start` as i64 within [0, most].
static Value clampedStart(Emitter &b, Value start, int64_t most) {
  return b.cast(b.clip(start, 0, most), b.getBuilder().getI64Type());
}

static LogicalResult dynamicSlice(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  auto slice = cast<DynamicSliceOp>(op);
  Value x = slice.getOperand();
  ArrayRef<int64_t> sizes = slice.getSliceSizes();
  if (!fits(shapeOf(x), sizes, slice.getStartIndices()))
    return b.refuse("expected a scalar index for each dimension, and sizes within the operand");
  for (auto [dim, start] : llvm::enumerate(slice.getStartIndices())) {
    const int64_t most = shapeOf(x)[dim] - sizes[dim];
    if (most == 0)
      continue;
    auto known = constantStarts(b, start, shapeOf(x)[dim], sizes[dim]);
    if (known) {
      x = b.sliceAxis(x, dim, known->front(), known->front() + sizes[dim]);
      continue;
    }
    Value indices = b.add(clampedStart(b, start, most), b.iota(sizes[dim], 0));
    x = b.gather(x, indices, dim);
  }
  results.push_back(x);
  return success();
}

/// `update` where it lands in dimension `dim` of `shape`, and anything elsewhere; `inside` is set
/// to where it lands, for this dimension only.
static Value spreadUpdate(Emitter &b, Value update, Value start, int64_t dim,
                          ArrayRef<int64_t> shape, Value &inside) {
  const int64_t size = shapeOf(update)[dim], extent = shape[dim];
  Value first = clampedStart(b, start, extent - size);
  Value position = b.sub(b.iota(extent, 0), first);
  Type i64 = b.getBuilder().getI64Type();
  inside = b.binary(op::And, b.binary(op::GreaterOrEqual, position, b.number(0, i64)),
                    b.binary(op::Less, position, b.number(double(size), i64)));
  SmallVector<int64_t> alone(shape.size(), 1);
  alone[dim] = extent;
  inside = b.reshape(inside, alone);
  // One slice is the same everywhere.
  return size == 1 ? update : b.gather(update, b.clip(position, 0, size - 1), dim);
}

/// Slices before and after a constant index, and the update between them.
static Value insert(Emitter &b, Value x, Value update, ArrayRef<int64_t> starts, size_t dim = 0) {
  ArrayRef<int64_t> shape = shapeOf(x), sizes = shapeOf(update);
  while (dim < shape.size() && shape[dim] == sizes[dim])
    ++dim;
  if (dim == shape.size())
    return update;
  const int64_t begin = starts[dim], end = begin + sizes[dim];
  Value middle = insert(b, b.sliceAxis(x, dim, begin, end), update, starts, dim + 1);
  SmallVector<Value> parts;
  if (begin > 0)
    parts.push_back(b.sliceAxis(x, dim, 0, begin));
  parts.push_back(middle);
  if (end < shape[dim])
    parts.push_back(b.sliceAxis(x, dim, end, shape[dim]));
  return b.concat(parts, dim);
}

static LogicalResult dynamicUpdateSlice(Operation *op, Emitter &b,
                                        SmallVectorImpl<Value> &results) {
  auto slice = cast<DynamicUpdateSliceOp>(op);
  Value x = slice.getOperand(), update = slice.getUpdate();
  ArrayRef<int64_t> shape = shapeOf(x), sizes = shapeOf(update);
  if (!fits(shape, sizes, slice.getStartIndices()) || elementOf(x) != elementOf(update))
    return b.refuse("expected a scalar index for each dimension, and an update that fits");
  if (productOf(sizes) == 0) {
    results.push_back(x);
    return success();
  }
  if (auto starts = constantStarts(b, slice.getStartIndices(), shape, sizes)) {
    results.push_back(insert(b, x, update, *starts));
    return success();
  }
  Value inside;
  for (auto [dim, start] : llvm::enumerate(slice.getStartIndices())) {
    if (shape[dim] == sizes[dim])
      continue;
    Value insideDim;
    update = spreadUpdate(b, update, start, dim, shape, insideDim);
    inside = inside ? b.binary(op::And, inside, insideDim) : insideDim;
  }
  results.push_back(b.where(inside, update, x));
  return success();
}

void addDynamicSliceRules(RuleTable &table) {
  table["stablehlo.dynamic_slice"] = dynamicSlice;
  table["stablehlo.dynamic_update_slice"] = dynamicUpdateSlice;
}

} // namespace zero::hlo
