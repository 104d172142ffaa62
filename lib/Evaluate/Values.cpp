//===- Values.cpp - elements of constants ---------------------------------===//

#include "zero/Evaluate/Values.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using llvm::APFloat;
using llvm::ArrayRef;

namespace zero::evaluate {

static bool isSingle(ElementType type) { return type.format == &APFloat::IEEEsingle(); }
static bool isDouble(ElementType type) { return type.format == &APFloat::IEEEdouble(); }

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

int64_t elementOfBits(ElementType type, uint64_t bits) {
  if (type.width == 64)
    return int64_t(bits);
  return type.isUnsigned || type.isFloat()
             ? int64_t(bits & llvm::maskTrailingOnes<uint64_t>(type.width))
             : llvm::SignExtend64(bits, type.width);
}

double toDouble(ElementType type, int64_t element) {
  if (!type.isFloat())
    return type.isUnsigned ? double(uint64_t(element)) : double(element);
  if (isSingle(type))
    return llvm::bit_cast<float>(uint32_t(element));
  if (isDouble(type))
    return llvm::bit_cast<double>(element);
  return APFloat(*type.format, llvm::APInt(type.width, uint64_t(element))).convertToDouble();
}

/// The bits of `value`, rounded to the format of `type`.
static int64_t rounded(ElementType type, APFloat value) {
  bool loses = false;
  value.convert(*type.format, APFloat::rmNearestTiesToEven, &loses);
  return int64_t(value.bitcastToAPInt().getZExtValue());
}

int64_t fromDouble(ElementType type, double value, bool &exact) {
  if (!type.isFloat()) {
    constexpr double kMost = 0x1p126;
    const bool fits = std::fabs(value) < kMost;
    const Wide whole = fits ? Wide(value) : 0;
    exact = exact && fits && double(whole) == value;
    return fromWide(type, whole, exact);
  }
  int64_t element = isSingle(type)   ? int64_t(llvm::bit_cast<uint32_t>(float(value)))
                    : isDouble(type) ? llvm::bit_cast<int64_t>(value)
                                     : rounded(type, APFloat(value));
  exact = exact && toDouble(type, element) == value;
  return element;
}

/// The bits of the float that is nearest to `value`.
static int64_t nearest(ElementType type, Wide value) {
  if (isSingle(type))
    return int64_t(llvm::bit_cast<uint32_t>(float(value)));
  if (isDouble(type))
    return llvm::bit_cast<int64_t>(double(value));
  APFloat number(APFloat::IEEEquad());
  number.convertFromAPInt(llvm::APInt(128, {uint64_t(value), uint64_t(value >> 64)}),
                          /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
  return rounded(type, number);
}

int64_t fromWide(ElementType type, Wide value, bool &exact) {
  if (!type.isFloat()) {
    const int64_t element = elementOfBits(type, uint64_t(value));
    exact = exact && toWide(type, element) == value;
    return element;
  }
  const int64_t element = nearest(type, value);
  const double number = toDouble(type, element);
  exact = exact && std::isfinite(number) && Wide(number) == value;
  return element;
}

int64_t convert(ElementType from, ElementType to, int64_t element, bool &exact) {
  if (from == to)
    return element;
  return from.isFloat() ? fromDouble(to, toDouble(from, element), exact)
                        : fromWide(to, toWide(from, element), exact);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

int64_t countOf(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

Dims stridesOf(ArrayRef<int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t dim = dims.size(); dim-- > 0; stride *= dims[dim])
    strides[dim] = stride;
  return strides;
}

std::optional<Dims> broadcastStrides(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return std::nullopt;
  Dims strides(to.size() - from.size(), 0);
  for (auto [size, wanted, stride] :
       llvm::zip_equal(from, to.take_back(from.size()), stridesOf(from))) {
    if (size != 1 && size != wanted)
      return std::nullopt;
    strides.push_back(size == 1 ? 0 : stride);
  }
  return strides;
}

void forEachIndex(ArrayRef<int64_t> dims, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  Dims index(dims.size(), 0);
  for (int64_t left = countOf(dims); left > 0; --left) {
    visit(index);
    for (size_t dim = dims.size(); dim-- > 0 && ++index[dim] == dims[dim];)
      index[dim] = 0;
  }
}

int64_t offsetOf(ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
  int64_t offset = 0;
  for (auto [position, stride] : llvm::zip_equal(index, strides))
    offset += position * stride;
  return offset;
}

std::optional<int64_t> fromFront(int64_t index, int64_t size) {
  if (index < -size || index >= size)
    return std::nullopt;
  return index < 0 ? index + size : index;
}

void take(const Values &from, int64_t start, ArrayRef<int64_t> strides, Values &result) {
  result.elements.reserve(countOf(result.dims));
  forEachIndex(result.dims, [&](ArrayRef<int64_t> index) {
    result.elements.push_back(from.at(start + offsetOf(index, strides)));
  });
}

bool slice(const Values &from, ArrayRef<int64_t> starts, ArrayRef<int64_t> steps, Values &result) {
  if (result.dims.size() != from.dims.size())
    return false;
  if (countOf(result.dims) == 0)
    return true;
  Dims strides = stridesOf(from.dims);
  int64_t offset = 0;
  for (size_t dim = 0; dim < starts.size(); ++dim) {
    const int64_t count = result.dims[dim], size = from.dims[dim];
    const Wide last = starts[dim] + Wide(count - 1) * steps[dim];
    if (starts[dim] < 0 || starts[dim] >= size || last < 0 || last >= size)
      return false;
    offset += starts[dim] * strides[dim];
    strides[dim] *= count > 1 ? steps[dim] : 0;
  }
  take(from, offset, strides, result);
  return true;
}

} // namespace zero::evaluate
