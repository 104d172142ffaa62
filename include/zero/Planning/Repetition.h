//===- Repetition.h - the repeated structure of a sequence ------*- C++ -*-===//

#ifndef ZERO_PLANNING_REPETITION_H
#define ZERO_PLANNING_REPETITION_H

#include <cstdint>
#include <vector>

namespace zero::planning {

/// Items [begin, begin + period * n) are n equal layers; the beginning of one more may follow, up
/// to `end`. `period` is 0 if nothing repeats.
struct Repetition {
  int64_t begin = 0;
  int64_t period = 0;
  int64_t end = 0;
};

/// The repetition of `symbols` that covers the most weight; of equal ones the shortest
/// period. Near linear: in long sequences only the likeliest periods are tried, the
/// distances at which most weight meets an equal symbol.
Repetition findRepetition(const std::vector<uint64_t> &symbols,
                          const std::vector<int64_t> &weights);

} // namespace zero::planning

#endif // ZERO_PLANNING_REPETITION_H
