//===- report.h - report of a simulated step --------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_REPORT_H
#define TOOLS_ZERO_SIM_REPORT_H

#include "explain.h"
#include "sensitivity.h"
#include "tools/profiling/profile.h"
#include "what_if.h"

namespace zero::sim {

/// Further contents of the report.
struct Subject {
  const rt::proto::Program &program;
  const planning::Machine &machine;
  bool isDefault; ///< --machine was not given
  std::vector<WhatIf> whatIfs;
  std::vector<Sensitivity> sensitivities = {};
};

/// The tables of a profile of the step.
run::Profile profileOf(const planning::Machine &machine, const Replay &replay);

/// The step, its memory, its lanes, and the tables of a profile.
std::string reportText(const Subject &subject, const Replay &replay);

/// The same as JSON; "profile" is as `zero-run --report-json` has it.
std::string reportJson(const Subject &subject, const Replay &replay);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_REPORT_H
