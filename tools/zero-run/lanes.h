//===- lanes.h - measured and planned times of lanes ------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_LANES_H
#define TOOLS_ZERO_RUN_LANES_H

#include "handles.h"
#include "runtime/support/json_writer.h"

#include <string>

namespace zero::run {

/// A line for each lane beside those that compute and meet other ranks: how long a step keeps it
/// busy, what it moves, and what the plan said, in the mean over all steps of a rank. A line
/// more says how long compute waits for them. Empty where there are no such lanes.
std::string lanesText(const Executable &executable, const zero_rt_stats &stats);

/// The same as members of a rank's object, "lanes" and "stalled", if there are such lanes.
void writeLaneMembers(rt::JsonWriter &json, const zero_rt_stats &stats);

/// The member "plan" of a report, if the executable has one.
void writePlan(rt::JsonWriter &json, const Executable &executable);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_LANES_H
