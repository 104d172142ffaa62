//===- session_record.cpp - what the ranks of a session did when ----------===//

#include "runtime/session/session.h"

namespace zero::rt {

Status Session::record(uint64_t steps) {
  ZERO_RT_TRY(checkAlive());
  const uint64_t each =
      commandsPerStep(tables()) * sizeof(zero_rt_event) + sizeof(zero_rt_recorded_step);
  if (steps > uint64_t(PTRDIFF_MAX) / each)
    return fail(ZERO_RT_INVALID_ARGUMENT, "%llu steps are too many to record",
                static_cast<unsigned long long>(steps));
  // Each on its own thread: memory lies near the one that writes it.
  return runOnRanks([steps, origin = Recorder::Clock::now()](Body &body, int rank) {
    body.rank(rank).record(steps, origin);
    return Status();
  });
}

Status Session::recording(int rank, zero_rt_recording &recording) const {
  ZERO_RT_TRY(checkRank(rank));
  recording = body->rank(rank).recording();
  return {};
}

} // namespace zero::rt
