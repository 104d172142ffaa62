//===- finite.h - look for NaN and infinity ---------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_FINITE_H
#define RUNTIME_SUPPORT_FINITE_H

#include "runtime/support/dtype.h"

#include <atomic>
#include <optional>
#include <vector>

namespace zero::rt {

/// The first of `count` elements at `values` that is NaN or infinite; `count` if there is none, as
/// for elements that are no floats. `values` may have any alignment.
uint64_t findNonFinite(DType dtype, const void *values, uint64_t count);

/// Whether the element at `value`, which is not finite, is NaN.
bool isNan(DType dtype, const void *value);

/// Looks for NaN and infinity among the elements of tensors in a buffer. What is between tensors
/// may be anything.
class FiniteCheck {
public:
  /// Elements [begin, end) of the buffer, of tensor number `tensor`.
  struct Range {
    uint64_t begin = 0, end = 0;
    uint32_t tensor = 0;
  };
  struct Finding {
    uint32_t tensor;
    bool isNan;
  };

  /// `ranges` do not overlap.
  FiniteCheck(DType dtype, const void *values, uint64_t elements, std::vector<Range> ranges);

  uint64_t size() const { return elements; }
  void clear() { first.store(kNothing, std::memory_order_relaxed); }
  /// Looks at the elements [begin, end) of the buffer. Threads may look at different ones at once.
  void look(uint64_t begin, uint64_t end);
  /// What was found first in the buffer since clear(). No thread looks any more, and the buffer
  /// may have other contents by now.
  std::optional<Finding> finding() const;

private:
  static constexpr uint64_t kNothing = UINT64_MAX;
  void note(uint64_t element);

  DType dtype;
  const char *values;
  uint64_t elements;
  std::vector<Range> ranges;             ///< in ascending order
  std::atomic<uint64_t> first{kNothing}; ///< the element, shifted by one bit: whether it is NaN
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_FINITE_H
