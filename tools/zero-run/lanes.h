//===- lanes.h - what lanes did beside what was planned ---------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_LANES_H
#define TOOLS_ZERO_RUN_LANES_H

#include "handles.h"

#include <string>

namespace zero::run {

/// A line for each lane beside those that compute and meet other ranks: how long a step keeps it
/// busy, what it moves, and what the plan said, in the mean over all steps of a rank. A line
/// more says how long compute waits for them. Empty where there are no such lanes.
std::string lanesText(const Executable &executable, const zero_rt_stats &stats);

/// The same as fields of a rank's JSON object: ", \"lanes\": {...}, \"stalled\": 0.01", or "".
std::string laneFields(const zero_rt_stats &stats);

/// The field `"plan"` of a report with its line, or "" where the executable has none.
std::string planJson(const Executable &executable);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_LANES_H
