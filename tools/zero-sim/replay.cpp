//===- replay.cpp - simulate a step on a machine --------------------------===//

#include "replay.h"

#include "runtime/load/command_info.h"
#include "zero/Machine/CommandCosts.h"

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

std::vector<zero_rt_recording> Replay::recordings() const {
  std::vector<zero_rt_recording> recordings;
  for (size_t rank = 0; rank < steps.size(); ++rank)
    recordings.push_back({&steps[rank], 1, timeline.events[rank].data(), 1});
  return recordings;
}

Replay replay(const proto::Program &program, const Machine &machine, double slowest) {
  Replay replay;
  StepCosts costs;
  const Ranks ranks = ranksOf(program);
  costs.overlaps = overlapsCollectives(machine, ranks);
  costs.shares = laneShares(machine, ranks);
  // Ranks that compute equally fast do everything at the same time: one stands for them.
  if (slowest > 1)
    costs.slowness.push_back(slowest);
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands()) {
      replay.commands.push_back(commandInfo(program, command));
      costs.seconds.push_back(commandSeconds(machine, program, command));
    }
  replay.timeline = layOut(program, costs, /*keepsEvents=*/true);
  for (const std::vector<zero_rt_event> &events : replay.timeline.events)
    replay.steps.push_back({0, 0, nanoseconds(replay.timeline.seconds), 0, events.size()});
  return replay;
}

} // namespace zero::sim
