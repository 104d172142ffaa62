//===- stop_time.h - how long a run takes to stop ---------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_STOP_TIME_H
#define TOOLS_ZERO_RUN_STOP_TIME_H

#include "job.h"

namespace zero::run {

/// What a checkpoint takes.
struct StopTime {
  double seconds;
  uint64_t bytes; ///< of the ranks of this node
  double bytesPerSecond;
};

/// By the bytes that the ranks of this node save, and the speed of the disk of --save-state, which
/// it measures. None: nothing is saved, or it cannot be measured.
std::optional<StopTime> stopTime(const Options &options, const Job &job,
                                 const Executable &executable);
/// Says how soon after a signal the state is on disk.
std::string stopTimeText(const StopTime &time, double stepSeconds);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_STOP_TIME_H
