//===- Prefetch.h - start times of transfers --------------------*- C++ -*-===//

#ifndef ZERO_PLANNING_PREFETCH_H
#define ZERO_PLANNING_PREFETCH_H

#include <cstdint>
#include <vector>

namespace zero::planning {

/// Bytes that must have been transferred over a link before a command.
struct Fetch {
  int64_t needed = 0;   ///< the first command that reads them
  int64_t earliest = 0; ///< the first command before which the transfer may start
  int link = 0;
  double seconds = 0; ///< on the link, alone
  int64_t bytes = 0;  ///< reserved on the target from the start of the transfer on
  double margin = 0;  ///< seconds between its arrival and its first use
};

/// A transfer that is not placed. It keeps its link busy from a command on.
struct Occupation {
  int64_t from = 0; ///< the command before which the transfer may start
  int link = 0;
  double seconds = 0;
};

/// The commands of a step that transfers overlap with.
struct Timeline {
  std::vector<double> seconds; ///< of each command
  std::vector<int64_t>
      live; ///< bytes in use in the target's arena at each command, without fetches
  std::vector<Occupation> occupations; ///< in the order of commands
};

/// For each fetch, the command before which it should start: as late as possible such that it
/// arrives in time if links are serial, and never so early that live bytes exceed `budget`. If a
/// fetch starts just before the command that needs it, or memory does not allow an earlier start,
/// the command waits for it. On each link fetches start in the order in which they are needed.
/// Latest start times are computed backwards from the last fetch, as the prefetching of DeepCompile
/// does (arXiv 2504.09983). Memory is then reserved in the order of need: where it is scarce, the
/// fetch that is needed first gets it. The time is linear in the fetches and in the commands that
/// each spans.
///
/// Reversed in time, it determines how long values that leave an arena stay there.
std::vector<int64_t> placeFetches(const Timeline &timeline, const std::vector<Fetch> &fetches,
                                  int64_t budget);

} // namespace zero::planning

#endif // ZERO_PLANNING_PREFETCH_H
