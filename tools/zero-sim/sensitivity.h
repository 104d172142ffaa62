//===- sensitivity.h - which figures of a machine a step depends on -*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_SENSITIVITY_H
#define TOOLS_ZERO_SIM_SENSITIVITY_H

#include "replay.h"
#include "rows.h"
#include "runtime/support/json_writer.h"

namespace zero::sim {

/// How much the time of a step depends on a figure: d log(seconds) / d log(figure). -1: a step is
/// half as long with twice the figure; 0: it does not depend on it.
struct Sensitivity {
  const char *figure;
  double slope;
};

/// The sensitivity to each figure that `machine` has, the largest first, without those below
/// 0.005. Differences of steps on machines that differ by one percent.
std::vector<Sensitivity> findSensitivities(const rt::proto::Program &program,
                                           const planning::Machine &machine, double slowest);

/// The titles of a table, and a row of it for each.
Rows sensitivityRows(const std::vector<Sensitivity> &found);

/// A JSON object with a member for each.
void writeSensitivities(rt::JsonWriter &json, const std::vector<Sensitivity> &found);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_SENSITIVITY_H
