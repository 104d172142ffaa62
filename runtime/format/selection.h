//===- selection.h - elements of a tensor -----------------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_SELECTION_H
#define RUNTIME_FORMAT_SELECTION_H

#include <cstdint>
#include <span>
#include <vector>

namespace zero::rt {

/// The elements of a tensor whose index along each of some dimensions is in one of the dimension's
/// intervals, as a list in row-major order.
class Selection {
public:
  /// Indices [begin, begin + extent).
  struct Interval {
    uint64_t begin = 0, extent = 0;
  };
  /// The intervals of a dimension, in ascending order and disjoint.
  struct Cut {
    uint32_t dimension = 0;
    std::vector<Interval> intervals;
  };

  /// `cuts`: of different dimensions of `shape`. Sizes must have been checked.
  Selection(std::span<const uint64_t> shape, std::vector<Cut> cuts);

  uint64_t size() const { return count; }
  /// The index of element `i` of the list in the tensor.
  uint64_t at(uint64_t i) const;
  /// How many of the list follow element `i`, itself included, without a gap.
  uint64_t runFrom(uint64_t i) const;
  /// How many of the list are before element `index` of the tensor.
  uint64_t before(uint64_t index) const;
  /// Whether the list has no gap.
  bool isDense() const { return count == 0 || runFrom(0) >= count; }
  /// Of the dimensions that are not selected as a whole, with intervals that do not touch.
  const std::vector<Cut> &cuts() const { return all; }

private:
  /// Neighbouring dimensions that are not cut, or one that is.
  struct Level {
    uint64_t inner = 1;    ///< elements of the tensor for each index
    uint64_t selected = 1; ///< elements of the list for each index of the list
    uint64_t indices = 1;  ///< of the tensor
    std::vector<Interval> intervals;
  };

  std::vector<Level> levels; ///< outermost first
  std::vector<Cut> all;
  uint64_t count = 0;
};

} // namespace zero::rt

#endif // RUNTIME_FORMAT_SELECTION_H
