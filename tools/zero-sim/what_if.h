//===- what_if.h - a step on changed machines -------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_WHAT_IF_H
#define TOOLS_ZERO_SIM_WHAT_IF_H

#include "replay.h"
#include "runtime/support/json_writer.h"
#include "runtime/support/status.h"

namespace zero::sim {

/// A change of a machine, and the step with it.
struct WhatIf {
  std::string change; ///< "h2d=25GB/s"
  double seconds = 0; ///< of the step with this change alone
};

/// Simulates the step with each of `changes`, "NAME=VALUE,...", alone, and, if there are several,
/// with all of them. A value is a number, a rate ("25GB/s") or a factor ("2x"). Errors name the
/// change and list the names.
rt::Status findWhatIfs(const rt::proto::Program &program, const planning::Machine &machine,
                       const std::string &changes, std::vector<WhatIf> &found);

/// A line of text for each.
std::string whatIfText(const std::vector<WhatIf> &found, double seconds);

/// A JSON object: seconds by change.
void writeWhatIf(rt::JsonWriter &json, const std::vector<WhatIf> &found);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_WHAT_IF_H
