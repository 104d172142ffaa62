//===- starting.h - what a run begins with ----------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_STARTING_H
#define TOOLS_ZERO_RUN_STARTING_H

#include "job.h"
#include "work_line.h"

namespace zero::run {

/// Refuses options that this program has nothing for.
rt::Status checkEffects(const Options &options, const Executable &executable);
/// Warns if there are more threads than cores.
void checkCores(const Options &options, const Executable &executable);
/// Steps in all: --steps, or so many times the data. `from`: where the run begins.
rt::Status countSteps(const Options &options, const Data &data, const zero_rt_state_result &from,
                      uint64_t &steps);
/// Makes the session, and says how it reaches the disk, if it needs one.
rt::Status openSession(const Options &options, const Executable &executable, const Job &job,
                       WorkLine &work, Session &session);
/// Replaces the model's own initial values by those of --weights.
rt::Status loadWeights(const Options &options, const Session &session);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_STARTING_H
