//===- Values.h - elements of constants -------------------------*- C++ -*-===//
// Constants as plain structs: import evaluates nodes before there is IR, and other phases read
// constants of attributes and of files.
//===----------------------------------------------------------------------===//

#ifndef ZERO_EVALUATE_VALUES_H
#define ZERO_EVALUATE_VALUES_H

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace zero::evaluate {

/// Integers as they are computed with: sums and products of two elements of 64 bits are exact.
using Wide = __int128;
using Dims = llvm::SmallVector<int64_t>;

/// Booleans are unsigned integers of one bit.
struct ElementType {
  unsigned width = 64;
  bool isUnsigned = false;
  const llvm::fltSemantics *format = nullptr; ///< of floats; null: integers

  static ElementType floats(const llvm::fltSemantics &format) {
    return {llvm::APFloat::getSizeInBits(format), false, &format};
  }
  bool isFloat() const { return format != nullptr; }
  bool isBool() const { return width == 1; }
  bool operator==(const ElementType &) const = default;
};

/// An element is an integer, or the bits of a float.
struct Values {
  ElementType type;
  Dims dims;
  std::vector<int64_t> elements; ///< row-major; a single one may stand for equal ones

  int64_t at(int64_t offset) const { return elements[elements.size() == 1 ? 0 : offset]; }
};

//===--- Elements ----------------------------------------------------------===//

/// The element with the lowest bits of `bits`.
int64_t elementOfBits(ElementType type, uint64_t bits);
double toDouble(ElementType type, int64_t element);
inline Wide toWide(ElementType type, int64_t element) {
  return type.isUnsigned ? Wide(uint64_t(element)) : Wide(element);
}
/// `value` as an element of `type`: floats are rounded to the nearest, integers truncated, and bits
/// that do not fit dropped. Clears `exact` if the element is not `value`.
int64_t fromDouble(ElementType type, double value, bool &exact);
int64_t fromWide(ElementType type, Wide value, bool &exact);
/// `element`, the same number in another type.
int64_t convert(ElementType from, ElementType to, int64_t element, bool &exact);

//===--- Positions ---------------------------------------------------------===//

int64_t countOf(llvm::ArrayRef<int64_t> dims);
/// The distance of neighbours along each dimension, row-major.
Dims stridesOf(llvm::ArrayRef<int64_t> dims);
/// The same in a tensor that NumPy broadcasts to `to`; nothing if it does not.
std::optional<Dims> broadcastStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
/// Calls `visit(index)` for all indices of a tensor of shape `dims`, row-major.
void forEachIndex(llvm::ArrayRef<int64_t> dims,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);
/// The sum of the products.
int64_t offsetOf(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> strides);

/// `index` counted from the front, of `size`; nothing if it is out of range.
std::optional<int64_t> fromFront(int64_t index, int64_t size);

/// Fills `result` with the elements at offsets `start + sum of index[d] strides[d]`, which exist.
void take(const Values &from, int64_t start, llvm::ArrayRef<int64_t> strides, Values &result);
/// Fills `result` with the elements at `starts[d] + i steps[d]`; false if one does not exist.
bool slice(const Values &from, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> steps,
           Values &result);

} // namespace zero::evaluate

#endif // ZERO_EVALUATE_VALUES_H
