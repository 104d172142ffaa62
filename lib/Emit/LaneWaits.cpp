//===- LaneWaits.cpp - waits between lanes that share bytes ---------------===//

#include "LaneWaits.h"

#include "runtime/format/accesses.h"
#include "zero/Planning/LaneOrder.h"

using namespace zero::rt;

namespace zero {

void addWaits(proto::Program &program) {
  for (proto::Segment &segment : *program.mutable_segments()) {
    planning::LaneOrder order(proto::Lane_ARRAYSIZE);
    for (proto::Command &command : *segment.mutable_commands()) {
      std::vector<planning::Touch> touches;
      for (const Access &access : accessesOfAllRanks(program, command))
        touches.push_back({int64_t(access.range.begin), int64_t(access.range.end),
                           /*writes=*/access.writes != 0});
      for (uint32_t wait : order.add(command.lane(), touches))
        command.add_waits(wait);
    }
  }
}

} // namespace zero
