//===- Fold.cpp - results of ops of StableHLO on constants ----------------===//

#include "zero/Programs/StableHlo/Fold.h"

#include "FoldElements.h"

#include "dialects/StableHlo/StableHlo.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

bool isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth()) && !integer.isSigned() &&
           (integer.getWidth() > 1 || integer.isSignless());
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

namespace {
/// The positions of a tensor in row-major order.
class Positions {
public:
  explicit Positions(ArrayRef<int64_t> shape) : shape(shape), at(shape.size(), 0) {}

  ArrayRef<int64_t> operator*() const { return at; }
  void operator++() {
    for (size_t dim = shape.size(); dim-- > 0; at[dim] = 0)
      if (++at[dim] < shape[dim])
        return;
  }

private:
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> at;
};
} // namespace

static int64_t offsetOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> at) {
  int64_t offset = 0;
  for (auto [size, index] : llvm::zip_equal(shape, at))
    offset = offset * size + index;
  return offset;
}

/// The position in an operand of the element at a position of the result.
using SourceFn = llvm::function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)>;

/// Elements of `operand`, each from where `source` says.
static DenseElementsAttr moved(DenseElementsAttr operand, RankedTensorType type, SourceFn source) {
  if (operand.isSplat())
    return DenseElementsAttr::get(type, operand.getSplatValue<Attribute>());
  auto from = llvm::to_vector(operand.getValues<Attribute>());
  SmallVector<Attribute> elements;
  Positions at(type.getShape());
  for (int64_t i = 0; i < type.getNumElements(); ++i, ++at) {
    SmallVector<int64_t> where = source(*at);
    elements.push_back(from[offsetOf(operand.getType().getShape(), where)]);
  }
  return DenseElementsAttr::get(type, elements);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

static DenseElementsAttr foldIota(IotaOp op, RankedTensorType type) {
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!integer || op.getIotaDimension() >= uint64_t(type.getRank()))
    return {};
  SmallVector<APInt> elements;
  Positions at(type.getShape());
  for (int64_t i = 0; i < type.getNumElements(); ++i, ++at)
    elements.push_back(APInt(integer.getWidth(), (*at)[op.getIotaDimension()], false, true));
  return DenseElementsAttr::get(type, elements);
}

static DenseElementsAttr foldBroadcast(BroadcastInDimOp op, DenseElementsAttr operand,
                                       RankedTensorType type) {
  ArrayRef<int64_t> shape = operand.getType().getShape(), dims = op.getBroadcastDimensions();
  if (dims.size() != shape.size())
    return {};
  for (auto [size, dim] : llvm::zip_equal(shape, dims))
    if (dim < 0 || dim >= type.getRank() || (size != 1 && size != type.getDimSize(dim)))
      return {};
  return moved(operand, type, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> from;
    for (auto [size, dim] : llvm::zip_equal(shape, dims))
      from.push_back(size == 1 ? 0 : at[dim]);
    return from;
  });
}

static DenseElementsAttr foldTranspose(TransposeOp op, DenseElementsAttr operand,
                                       RankedTensorType type) {
  ArrayRef<int64_t> shape = operand.getType().getShape(), permutation = op.getPermutation();
  if (permutation.size() != shape.size() || type.getRank() != int64_t(shape.size()))
    return {};
  for (auto [dim, from] : llvm::enumerate(permutation))
    if (from < 0 || from >= type.getRank() || shape[from] != type.getDimSize(dim))
      return {};
  return moved(operand, type, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> from(at.size());
    for (auto [dim, source] : llvm::enumerate(permutation))
      from[source] = at[dim];
    return from;
  });
}

/// A window of `operand` that begins at `starts`.
static DenseElementsAttr window(DenseElementsAttr operand, RankedTensorType type,
                                ArrayRef<int64_t> starts, ArrayRef<int64_t> strides) {
  ArrayRef<int64_t> shape = operand.getType().getShape();
  if (starts.size() != shape.size() || strides.size() != shape.size() ||
      type.getRank() != int64_t(shape.size()))
    return {};
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t count = type.getDimSize(dim);
    if (starts[dim] < 0 || strides[dim] < 1 || strides[dim] > size + 1 || count > size ||
        (count > 0 && starts[dim] + (count - 1) * strides[dim] >= size))
      return {};
  }
  return moved(operand, type, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> from;
    for (auto [dim, index] : llvm::enumerate(at))
      from.push_back(starts[dim] + index * strides[dim]);
    return from;
  });
}

/// `starts` within the operand, as dynamic slices have them.
static std::optional<SmallVector<int64_t>> clampedStarts(ArrayRef<DenseElementsAttr> starts,
                                                         ArrayRef<int64_t> shape,
                                                         ArrayRef<int64_t> sizes) {
  if (starts.size() != shape.size() || sizes.size() != shape.size())
    return std::nullopt;
  SmallVector<int64_t> result;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    auto integer = dyn_cast<IntegerType>(start.getElementType());
    if (!integer || start.getNumElements() != 1 || sizes[dim] > shape[dim])
      return std::nullopt;
    APInt number = start.getSplatValue<APInt>();
    int64_t value = integer.isUnsigned()
                        ? int64_t(number.getLimitedValue(std::numeric_limits<int64_t>::max()))
                        : number.getSExtValue();
    result.push_back(std::clamp<int64_t>(value, 0, shape[dim] - sizes[dim]));
  }
  return result;
}

static DenseElementsAttr foldDynamicSlice(ArrayRef<DenseElementsAttr> operands,
                                          RankedTensorType type) {
  ArrayRef<int64_t> shape = operands.front().getType().getShape();
  auto starts = clampedStarts(operands.drop_front(), shape, type.getShape());
  if (!starts)
    return {};
  return window(operands.front(), type, *starts, SmallVector<int64_t>(shape.size(), 1));
}

static DenseElementsAttr foldConcatenate(ConcatenateOp op, ArrayRef<DenseElementsAttr> operands,
                                         RankedTensorType type) {
  const int64_t axis = op.getDimension();
  SmallVector<SmallVector<Attribute>> parts;
  SmallVector<int64_t> ends;
  int64_t end = 0;
  for (DenseElementsAttr operand : operands) {
    ArrayRef<int64_t> shape = operand.getType().getShape();
    if (int64_t(shape.size()) != type.getRank() || axis < 0 || axis >= type.getRank() ||
        operand.getElementType() != type.getElementType())
      return {};
    for (auto [dim, size] : llvm::enumerate(shape))
      if (int64_t(dim) != axis && size != type.getDimSize(dim))
        return {};
    parts.push_back(llvm::to_vector(operand.getValues<Attribute>()));
    ends.push_back(end += shape[axis]);
  }
  if (ends.empty() || ends.back() != type.getDimSize(axis))
    return {};
  SmallVector<Attribute> elements;
  Positions at(type.getShape());
  for (int64_t i = 0; i < type.getNumElements(); ++i, ++at) {
    SmallVector<int64_t> where(*at);
    size_t part = llvm::upper_bound(ends, where[axis]) - ends.begin();
    where[axis] -= part ? ends[part - 1] : 0;
    elements.push_back(parts[part][offsetOf(operands[part].getType().getShape(), where)]);
  }
  return DenseElementsAttr::get(type, elements);
}

static DenseElementsAttr reshaped(DenseElementsAttr operand, RankedTensorType type) {
  return operand.getNumElements() == type.getNumElements() ? operand.reshape(type)
                                                           : DenseElementsAttr();
}

static DenseElementsAttr foldMovement(Operation *op, ArrayRef<DenseElementsAttr> operands,
                                      RankedTensorType type) {
  if (auto iota = dyn_cast<IotaOp>(op))
    return foldIota(iota, type);
  if (operands.empty() || operands.front().getElementType() != type.getElementType())
    return {};
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    return foldBroadcast(broadcast, operands[0], type);
  if (isa<ReshapeOp>(op))
    return reshaped(operands[0], type);
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return foldTranspose(transpose, operands[0], type);
  if (auto slice = dyn_cast<SliceOp>(op))
    return window(operands[0], type, slice.getStartIndices(), slice.getStrides());
  if (isa<DynamicSliceOp>(op))
    return foldDynamicSlice(operands, type);
  if (auto concatenate = dyn_cast<ConcatenateOp>(op))
    return foldConcatenate(concatenate, operands, type);
  return {};
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static DenseElementsAttr foldElementwise(Operation *op, ArrayRef<DenseElementsAttr> operands,
                                         RankedTensorType type) {
  const bool allSplats =
      llvm::all_of(operands, [](DenseElementsAttr attr) { return attr.isSplat(); });
  SmallVector<SmallVector<Attribute>> inputs;
  for (DenseElementsAttr operand : operands) {
    // A scalar may be the condition of a select, and a bound of a clamp.
    if (operand.getType().getShape() != type.getShape() && operand.getType().getRank() != 0)
      return {};
    if (operand.isSplat())
      inputs.push_back({operand.getSplatValue<Attribute>()});
    else
      inputs.push_back(llvm::to_vector(operand.getValues<Attribute>()));
  }
  SmallVector<Attribute> elements;
  const int64_t count = allSplats ? 1 : type.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    auto element = llvm::map_to_vector(
        inputs, [&](const auto &input) { return input[input.size() == 1 ? 0 : i]; });
    auto result = dyn_cast_or_null<TypedAttr>(foldElement(op, element, type.getElementType()));
    if (!result || result.getType() != type.getElementType())
      return {};
    elements.push_back(result);
  }
  return allSplats ? DenseElementsAttr::get(type, elements.front())
                   : DenseElementsAttr::get(type, elements);
}

/// The value of a constant, also one whose bytes are a resource of the file.
static DenseElementsAttr valueOf(ConstantOp op) {
  if (auto elements = dyn_cast<DenseElementsAttr>(op.getValue()))
    return elements;
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(op.getType(), blob->getData(), isSplat))
    return {};
  return DenseElementsAttr::getFromRawBuffer(op.getType(), blob->getData());
}

DenseElementsAttr fold(Operation *op, ArrayRef<DenseElementsAttr> operands) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return valueOf(constant);
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || llvm::is_contained(operands, nullptr))
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !isElementType(type.getElementType()) || type.getNumElements() == 0)
    return {};
  const bool allSplats = !isa<IotaOp, ConcatenateOp>(op) &&
                         llvm::all_of(operands, [](DenseElementsAttr a) { return a.isSplat(); });
  const int64_t most = kMostFoldedBytes / llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (!allSplats && type.getNumElements() > most)
    return {};
  if (DenseElementsAttr result = foldMovement(op, operands, type))
    return result;
  return operands.empty() ? DenseElementsAttr() : foldElementwise(op, operands, type);
}

} // namespace zero::hlo
