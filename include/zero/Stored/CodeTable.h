//===- CodeTable.h - the numbers that codes stand for -----------*- C++ -*-===//
// A tensor stored in blocks has a code of 8 or 4 bits for each element and an f32 scale for each
// block, its largest magnitude: an element is the number that its code stands for times the scale
// (Dettmers et al., "8-bit Optimizers via Block-wise Quantization", arXiv 2110.02861, section 2).
//===----------------------------------------------------------------------===//

#ifndef ZERO_STORED_CODETABLE_H
#define ZERO_STORED_CODETABLE_H

#include "dialects/Zero/Zero.h"

#include <vector>

namespace zero {

/// Tensors with fewer elements have no codes: they are few bytes, and often norms and biases.
inline constexpr int64_t kLeastCodedElements = 4096;

/// The name of scales is that of their codes and this.
inline constexpr llvm::StringLiteral kScaleSuffix = ".scale";

} // namespace zero

namespace zero::stored {

/// The map `map` of codes of `bits`, 8 or 4.
class CodeTable {
public:
  CodeTable(CodeMap map, unsigned bits);

  /// By code; those of Integer and Float8 do not ascend.
  const std::vector<float> &values() const { return numbers; }
  CodeMap map() const { return kind; }
  /// The code of 0 of a signed map, which is in the middle; else 0. Magnitude number m, 0 being the
  /// first, has the code zeroCode() + m, or if it is negative zeroCode() - m.
  int64_t zeroCode() const { return zero; }
  /// Magnitudes of a dynamic map: 0, then decade k = 0, 1, ... of `decades` has `firstCount` 2^k
  /// numbers, the middles of as many equal parts of [0.1, 1] 10^(k + 1 - decades), and at last 1.
  int64_t decades() const { return numDecades; }
  int64_t firstCount() const { return kind == CodeMap::Dynamic ? 1 : 2; }
  /// The power of 10 at which decade `decade` ends.
  double endOf(int64_t decade) const;
  /// The middle between the first number of decade `decade`, or 1 behind the last one, and the
  /// number before it.
  double beginOf(int64_t decade) const;

private:
  void addDynamic(unsigned bits);
  double firstOf(int64_t decade) const;
  double stepOf(int64_t decade) const;

  CodeMap kind;
  int64_t numDecades = 0;
  std::vector<float> numbers;
  int64_t zero = 0;
};

} // namespace zero::stored

#endif // ZERO_STORED_CODETABLE_H
