//===- stop_time.h - how long a run takes to stop ---------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_STOP_TIME_H
#define TOOLS_ZERO_RUN_STOP_TIME_H

#include "job.h"

namespace zero::run {

/// Says how soon after a signal the state is on disk, by the seconds of a step, the bytes that the
/// ranks of this node save, and the speed of the disk of --save-state, which it measures. Empty:
/// nothing is saved or printed, or it cannot be measured.
std::string stopTimeText(const Options &options, const Job &job, const Executable &executable,
                         double stepSeconds);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_STOP_TIME_H
