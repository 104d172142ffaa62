//===- Stacks.cpp - tensors that are written slice by slice ---------------===//

#include "Stacks.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

std::optional<SmallVector<int64_t>>
constantStarts(Emitter &b, ValueRange starts, ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  if (starts.size() != shape.size() || sizes.size() != shape.size())
    return std::nullopt;
  SmallVector<int64_t> result;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    std::optional<SmallVector<int64_t>> known = b.intsOf(start);
    if (sizes[dim] < 0 || sizes[dim] > shape[dim])
      return std::nullopt;
    // Where the slice is all of the dimension, any index is clamped to 0.
    if (sizes[dim] == shape[dim])
      known = SmallVector<int64_t>{0};
    if (!known || known->size() != 1)
      return std::nullopt;
    int64_t value = known->front();
    // An unsigned index of 64 bits beyond those of a signed one is too large, not negative.
    if (value < 0 && elementOf(start).isUnsignedInteger())
      value = shape[dim];
    result.push_back(std::clamp<int64_t>(value, 0, shape[dim] - sizes[dim]));
  }
  return result;
}

/// The only dimension in which `sizes` differ from `shape`.
static std::optional<int64_t> slicedAxis(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  std::optional<int64_t> axis;
  if (shape.size() != sizes.size())
    return axis;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == sizes[dim])
      continue;
    if (axis)
      return std::nullopt;
    axis = dim;
  }
  return axis;
}

bool Stacks::push(DynamicUpdateSliceOp op, Emitter &b) {
  Value tensor = op.getOperand(), slice = op.getUpdate();
  ArrayRef<int64_t> shape = shapeOf(tensor), sizes = shapeOf(slice);
  std::optional<int64_t> axis = slicedAxis(shape, sizes);
  auto starts = constantStarts(b, op.getStartIndices(), shape, sizes);
  if (!axis || !starts || sizes[*axis] == 0 || tensor.getType() != op.getType() ||
      elementOf(slice) != elementOf(tensor))
    return false;
  const int64_t offset = (*starts)[*axis], thickness = sizes[*axis];
  if (offset % thickness || shape[*axis] % thickness)
    return false;
  auto found = versions.find(tensor);
  Chain *chain = nullptr;
  if (found != versions.end()) {
    chain = found->second.chain;
    // A write to an earlier version begins a stack of its own.
    if (chain->axis != *axis || chain->thickness != thickness ||
        found->second.count != chain->writes.size())
      return false;
  } else {
    chains.push_back(std::make_unique<Chain>());
    chain = chains.back().get();
    chain->base = chain->built = tensor;
    chain->axis = *axis;
    chain->thickness = thickness;
  }
  chain->byOffset[offset].push_back(chain->writes.size());
  chain->offsets.push_back(offset);
  chain->writes.push_back(slice);
  versions[op.getResult()] = {chain, unsigned(chain->writes.size())};
  return true;
}

/// The last of the writes of a version to `offset`.
std::optional<unsigned> Stacks::lastWrite(const Version &version, int64_t offset) {
  auto found = version.chain->byOffset.find(offset);
  if (found == version.chain->byOffset.end())
    return std::nullopt;
  auto end = llvm::lower_bound(found->second, version.count);
  return end == found->second.begin() ? std::nullopt : std::optional<unsigned>(*std::prev(end));
}

Value Stacks::read(DynamicSliceOp op, Emitter &b) {
  auto found = versions.find(op.getOperand());
  if (found == versions.end())
    return {};
  Chain &chain = *found->second.chain;
  ArrayRef<int64_t> shape = shapeOf(op.getOperand()), sizes = op.getSliceSizes();
  auto starts = constantStarts(b, op.getStartIndices(), shape, sizes);
  if (!starts || slicedAxis(shape, sizes) != chain.axis || sizes[chain.axis] != chain.thickness ||
      (*starts)[chain.axis] % chain.thickness)
    return {};
  const int64_t offset = (*starts)[chain.axis];
  if (std::optional<unsigned> write = lastWrite(found->second, offset))
    return chain.writes[*write];
  return b.sliceAxis(chain.base, chain.axis, offset, offset + chain.thickness);
}

Value Stacks::build(Value value, Emitter &b) {
  Version version = versions.lookup(value);
  Chain &chain = *version.chain;
  const int64_t extent = shapeOf(value)[chain.axis];
  // An earlier version that was built is below only what was written since.
  const bool extends = chain.builtVersion <= version.count;
  const unsigned first = extends ? chain.builtVersion : 0;
  Value below = extends ? chain.built : chain.base;
  SmallVector<Value> parts;
  int64_t gap = 0;
  auto closeGap = [&](int64_t end) {
    if (end > gap)
      parts.push_back(b.sliceAxis(below, chain.axis, gap, end));
  };
  SmallVector<int64_t> written;
  for (auto &[offset, writes] : chain.byOffset) {
    std::optional<unsigned> last = lastWrite(version, offset);
    if (last && *last >= first)
      written.push_back(offset);
  }
  llvm::sort(written);
  for (int64_t offset : written) {
    closeGap(offset);
    parts.push_back(chain.writes[*lastWrite(version, offset)]);
    gap = offset + chain.thickness;
  }
  closeGap(extent);
  Value result = parts.size() == 1 ? parts.front() : b.concat(parts, chain.axis);
  if (extends) {
    chain.builtVersion = version.count;
    chain.built = result;
  }
  versions.erase(value);
  return result;
}

} // namespace zero::hlo
