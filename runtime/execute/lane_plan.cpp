//===- lane_plan.cpp - assign commands and waits to threads ---------------===//

#include "runtime/execute/lane_plan.h"

#include "runtime/format/tiers.h"

#include <algorithm>
#include <array>

namespace zero::rt {

using ThreadOfLane = std::array<size_t, proto::Lane_ARRAYSIZE>;

/// The commands of one segment. Of several waits for one thread the last counts, and none for
/// the own one, whose commands follow each other.
static std::vector<std::vector<LaneStep>>
planSegment(const proto::Segment &segment, const ThreadOfLane &threadOf, size_t threads) {
  std::vector<std::vector<LaneStep>> steps(threads);
  std::vector<uint64_t> behind; ///< by command: how many its thread has done with it
  for (int i = 0; i < segment.commands_size(); ++i) {
    const proto::Command &command = segment.commands(i);
    const size_t own = threadOf[size_t(command.lane())];
    LaneStep step{uint32_t(i), {}};
    for (uint32_t wait : command.waits()) {
      const size_t thread = threadOf[size_t(segment.commands(int(wait)).lane())];
      auto known = std::find_if(step.waits.begin(), step.waits.end(),
                                [&](const LaneStep::Wait &each) { return each.thread == thread; });
      if (known != step.waits.end())
        known->commands = std::max(known->commands, behind[wait]);
      else if (thread != own)
        step.waits.push_back({thread, behind[wait]});
    }
    steps[own].push_back(std::move(step));
    behind.push_back(steps[own].size());
  }
  return steps;
}

LanePlan::LanePlan(const proto::Program &program, bool hasIdleCores) : lanes{proto::COMPUTE} {
  const bool overlaps = hasTransfers(program) || (program.prefetches() && hasIdleCores);
  std::array<bool, proto::Lane_ARRAYSIZE> isUsed{};
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      isUsed[size_t(command.lane())] = true;
  ThreadOfLane threadOf{};
  for (proto::Lane lane : {proto::H2D, proto::D2H, proto::NVME_READ, proto::NVME_WRITE,
                           proto::HOST_COMPUTE, proto::COLLECTIVE})
    if (isUsed[size_t(lane)] && (lane != proto::COLLECTIVE || overlaps)) {
      threadOf[size_t(lane)] = lanes.size();
      lanes.push_back(lane);
    }
  for (const proto::Segment &segment : program.segments())
    segments.push_back(planSegment(segment, threadOf, lanes.size()));
}

} // namespace zero::rt
