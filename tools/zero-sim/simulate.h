//===- simulate.h - simulate and report a step ------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_SIMULATE_H
#define TOOLS_ZERO_SIM_SIMULATE_H

#include "options.h"

namespace zero::sim {

/// Replays the model's step, prints what it takes, and writes the trace if one is wanted.
rt::Status simulate(const Options &options);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_SIMULATE_H
