//===- lane_plan.cpp - assign commands and waits to threads ---------------===//

#include "runtime/execute/lane_plan.h"

#include "runtime/format/tables.h"
#include "runtime/format/tiers.h"

#include <algorithm>
#include <array>

namespace zero::rt {

using SequenceOfLane = std::array<size_t, proto::Lane_ARRAYSIZE>;

/// The commands of one segment. Of several waits for one sequence the last counts, and none for
/// the own one, whose commands follow each other.
static std::vector<std::vector<LaneStep>>
planSegment(const proto::Segment &segment, const SequenceOfLane &sequenceOf, size_t sequences) {
  std::vector<std::vector<LaneStep>> steps(sequences);
  std::vector<uint64_t> behind; ///< by command: how many its sequence has done with it
  for (int i = 0; i < segment.commands_size(); ++i) {
    const proto::Command &command = segment.commands(i);
    const size_t own = sequenceOf[size_t(command.lane())];
    LaneStep step{uint32_t(i), {}};
    for (uint32_t wait : command.waits()) {
      const size_t sequence = sequenceOf[size_t(segment.commands(int(wait)).lane())];
      auto known =
          std::find_if(step.waits.begin(), step.waits.end(),
                       [&](const LaneStep::Wait &each) { return each.sequence == sequence; });
      if (known == step.waits.end() && sequence != own)
        step.waits.push_back({sequence, behind[wait], wait});
      else if (known != step.waits.end() && known->commands < behind[wait])
        *known = {sequence, behind[wait], wait};
    }
    steps[own].push_back(std::move(step));
    behind.push_back(steps[own].size());
  }
  return steps;
}

static std::array<bool, proto::Lane_ARRAYSIZE> usedLanes(const proto::Program &program) {
  std::array<bool, proto::Lane_ARRAYSIZE> isUsed{};
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      isUsed[size_t(command.lane())] = true;
  return isUsed;
}

/// Lanes without a sequence are part of the first one.
void LanePlan::plan(const proto::Program &program) {
  SequenceOfLane sequenceOf{};
  for (size_t sequence = 0; sequence < lanes.size(); ++sequence)
    sequenceOf[size_t(lanes[sequence])] = sequence;
  for (const proto::Segment &segment : program.segments())
    segments.push_back(planSegment(segment, sequenceOf, lanes.size()));
}

LanePlan::LanePlan(const proto::Program &program, bool hasIdleCores) : lanes{proto::COMPUTE} {
  const bool overlaps = hasTransfers(program) || (program.prefetches() && hasIdleCores);
  const auto isUsed = usedLanes(program);
  for (proto::Lane lane : {proto::H2D, proto::D2H, proto::NVME_READ, proto::NVME_WRITE,
                           proto::HOST_COMPUTE, proto::COLLECTIVE})
    if (isUsed[size_t(lane)] && (lane != proto::COLLECTIVE || overlaps))
      lanes.push_back(lane);
  plan(program);
}

LanePlan LanePlan::ofDeviceLanes(const proto::Program &program) {
  LanePlan made;
  const auto isUsed = usedLanes(program);
  for (proto::Lane lane : {proto::COMPUTE, proto::COLLECTIVE, proto::H2D, proto::D2H,
                           proto::NVME_READ, proto::NVME_WRITE, proto::HOST_COMPUTE})
    if (isUsed[size_t(lane)] || lane == proto::COMPUTE)
      made.lanes.push_back(lane);
  made.own = size_t(std::ranges::count_if(made.lanes, [](auto lane) { return !isHostLane(lane); }));
  made.plan(program);
  return made;
}

} // namespace zero::rt
