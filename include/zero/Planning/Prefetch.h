//===- Prefetch.h - when transfers begin ------------------------*- C++ -*-===//

#ifndef ZERO_PLANNING_PREFETCH_H
#define ZERO_PLANNING_PREFETCH_H

#include <cstdint>
#include <vector>

namespace zero::planning {

/// Bytes that must have come over a link before a command.
struct Fetch {
  int64_t needed = 0;   ///< the first command that reads them
  int64_t earliest = 0; ///< the first command before which they may leave
  int link = 0;
  double seconds = 0; ///< on the link, alone
  int64_t bytes = 0;  ///< that the target takes from the start of the transfer on
  double margin = 0;  ///< seconds that it should be there before it is needed
};

/// A step that transfers go beside, command by command.
struct Timeline {
  std::vector<double> seconds; ///< each command takes
  std::vector<int64_t> live;   ///< bytes of the targets' arena in use at it, fetches apart
};

/// For each fetch, the command before which it should begin: as late as it can so that it
/// is there in time if links are serial, and never so early that live bytes exceed
/// `budget`. A fetch that begins before the command that needs it, or for which there is no
/// room any earlier, is waited for. On each link fetches begin in the order in which they are
/// needed.
/// Walks back from the last fetch, as DeepCompile's prefetching does (arXiv 2504.09983); the
/// time is linear in fetches and in the commands that each spans.
///
/// Turned round in time it says how long what leaves an arena stays there.
std::vector<int64_t> placeFetches(const Timeline &timeline, const std::vector<Fetch> &fetches,
                                  int64_t budget);

} // namespace zero::planning

#endif // ZERO_PLANNING_PREFETCH_H
