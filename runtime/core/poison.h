//===- poison.h - finds uses of what a step left behind ---------*- C++ -*-===//

#ifndef RUNTIME_CORE_POISON_H
#define RUNTIME_CORE_POISON_H

#include "runtime/core/program.h"

#include <vector>

namespace zero::rt {

/// Overwrites everything in an arena that does not persist with NaN bytes before each
/// step, so that a step that reads another step's leftovers shows it; and finds the
/// highest byte that a step wrote.
class Poison {
public:
  Poison(const proto::Program &program, int rank, char *base);
  void apply();
  /// The end of the highest byte in use so far: persistent, or no longer poisoned. A
  /// byte whose value is that of the poison is not seen.
  uint64_t measurePeak();

private:
  struct Range {
    uint64_t begin, end;
  };
  char *base;
  std::vector<Range> transient;
  uint64_t peak = 0;
};

} // namespace zero::rt

#endif // RUNTIME_CORE_POISON_H
