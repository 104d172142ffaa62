//===- replay.h - simulate a step on a machine ------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_REPLAY_H
#define TOOLS_ZERO_SIM_REPLAY_H

#include "runtime/verify/timeline.h"
#include "zero/Planning/Machine.h"

namespace zero::sim {

/// What each rank would have recorded of one step.
struct Replay {
  rt::Timeline timeline;
  std::vector<zero_rt_command_info> commands; ///< of the program
  std::vector<zero_rt_recorded_step> steps;   ///< of each rank

  /// Valid as long as this lives.
  std::vector<zero_rt_recording> recordings() const;
};

/// Replays a step that skips nothing, in the order of the program: a prologue and the
/// micro-batches once for each micro-batch. The last rank computes `slowest` times longer.
Replay replay(const rt::proto::Program &program, const planning::Machine &machine, double slowest);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_REPLAY_H
