//===- what_if.h - a step on changed machines -------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_WHAT_IF_H
#define TOOLS_ZERO_SIM_WHAT_IF_H

#include "explain.h"
#include "replay.h"
#include "runtime/support/json_writer.h"
#include "runtime/support/status.h"

namespace zero::sim {

/// A change of a machine or of the number of ranks, and the step with it.
struct WhatIf {
  std::string change; ///< "h2d=25GB/s"
  uint32_t ranks = 0; ///< of the step
  double seconds = 0; ///< of the step with this change alone
  Explanation explanation;
};

/// Simulates the step with each of `changes`, "NAME=VALUE,...", alone, and, if there are several,
/// with all of them. A value is a number, a number with the unit of the figure ("25GB/s",
/// "300TFLOP/s") or a factor ("2x"). With other ranks each rank keeps its batch; see
/// scale_ranks.h. The last rank computes `slowest` times longer, as without a change. Errors name
/// the change and say what is expected.
rt::Status findWhatIfs(const rt::proto::Program &program, const planning::Machine &machine,
                       double slowest, const std::string &changes, std::vector<WhatIf> &found);

/// Sentences about the steps on other ranks than `program` has; none: there are no such steps.
std::vector<std::string> ranksNotes(const std::vector<WhatIf> &found,
                                    const rt::proto::Program &program,
                                    const planning::Machine &machine);

/// The titles of a table, and a row of it for each; `seconds` are those without a change.
Rows whatIfRows(const std::vector<WhatIf> &found, double seconds);

/// A JSON object with an object for each change.
void writeWhatIf(rt::JsonWriter &json, const std::vector<WhatIf> &found);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_WHAT_IF_H
