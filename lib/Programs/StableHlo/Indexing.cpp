//===- Indexing.cpp - indices of gathers and scatters ---------------------===//

#include "Indexing.h"

using namespace mlir;

namespace zero::hlo {

SmallVector<int64_t> IndexDims::batchDims() const {
  const int64_t rank = shapeOf(indices).size();
  return vectorDim < rank ? otherDims(rank, vectorDim) : otherDims(rank, {});
}

SmallVector<int64_t> IndexDims::batchShape() const {
  return sizesOf(shapeOf(indices), batchDims());
}

SmallVector<int64_t> IndexDims::batchOrder() const {
  auto dims = batchDims();
  SmallVector<int64_t> order;
  for (int64_t dim : indexBatching)
    order.push_back(llvm::find(dims, dim) - dims.begin());
  return joined(order, otherDims(dims.size(), order));
}

SmallVector<int64_t> IndexDims::windowDims() const {
  return otherDims(rank(), joined(dropped, operandBatching));
}

bool IndexDims::isValid() const {
  const int64_t indexRank = shapeOf(indices).size();
  Type element = elementOf(indices);
  if (!isa<IntegerType>(element) || isBool(element) || vectorDim < 0 || vectorDim > indexRank)
    return false;
  const int64_t tuple = vectorDim == indexRank ? 1 : shapeOf(indices)[vectorDim];
  if (tuple != int64_t(indexed.size()) || !areDims(joined(indexed, operandBatching), rank()) ||
      !areDims(joined(dropped, operandBatching), rank()) || !areDims(indexBatching, indexRank) ||
      llvm::is_contained(indexBatching, vectorDim) || !llvm::is_sorted(operandBatching) ||
      indexBatching.size() != operandBatching.size() || int64_t(window.size()) != rank())
    return false;
  for (auto [a, c] : llvm::zip_equal(operandBatching, indexBatching))
    if (shapeOf(operand)[a] != shapeOf(indices)[c])
      return false;
  for (auto [size, extent] : llvm::zip_equal(window, shapeOf(operand)))
    if (size < 0 || size > extent)
      return false;
  return llvm::all_of(joined(dropped, operandBatching),
                      [&](int64_t dim) { return window[dim] == 1; });
}

Value IndexDims::component(Emitter &b, int64_t number) const {
  if (vectorDim == int64_t(shapeOf(indices).size()))
    return indices;
  if (std::optional<SmallVector<int64_t>> known = b.intsOf(indices)) {
    // The elements of one component are `inner` apart in groups.
    ArrayRef<int64_t> shape = shapeOf(indices);
    const int64_t inner = productOf(shape.drop_front(vectorDim + 1)), count = shape[vectorDim];
    SmallVector<int64_t> values;
    for (auto [position, value] : llvm::enumerate(*known))
      if (int64_t(position) / inner % count == number)
        values.push_back(value);
    return b.integers(RankedTensorType::get(batchShape(), elementOf(indices)), values);
  }
  Value slice = b.sliceAxis(indices, vectorDim, number, number + 1);
  return b.reshaped(slice, batchShape());
}

Value tuplesOf(Emitter &b, const IndexDims &dims, ArrayRef<Value> components,
               ArrayRef<int64_t> numbers, ArrayRef<int64_t> windowed) {
  SmallVector<int64_t> batch(shapeOf(components.front()));
  SmallVector<int64_t> shape = joined(batch, sizesOf(dims.window, windowed));
  shape.push_back(1);
  SmallVector<Value> parts;
  for (auto [component, dim] : llvm::zip_equal(components, numbers)) {
    SmallVector<int64_t> alone = batch;
    alone.resize(shape.size(), 1);
    Value part = b.reshaped(component, alone);
    if (auto found = llvm::find(windowed, dim); found != windowed.end()) {
      SmallVector<int64_t> line(shape.size(), 1);
      const size_t axis = batch.size() + (found - windowed.begin());
      line[axis] = shape[axis];
      part = b.add(part, b.iota(line, axis));
    }
    parts.push_back(b.expand(part, shape));
  }
  return b.concat(parts, shape.size() - 1);
}

} // namespace zero::hlo
