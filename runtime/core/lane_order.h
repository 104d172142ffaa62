//===- lane_order.h - what lanes owe to each other --------------*- C++ -*-===//
//
// Commands are listed in a total order. A device with lanes keeps it within each lane;
// between lanes it must wait where two commands touch the same bytes and one writes them,
// be it one value or two that share the place, and where the program says so.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CORE_LANE_ORDER_H
#define RUNTIME_CORE_LANE_ORDER_H

#include "runtime/core/commands.h"

namespace zero::rt {

/// Fills in the orders of `segments`, as resolveCommands() has made them for `rank`, and
/// returns how many signals they have. A command waits only for what no other wait has
/// waited for already. Turns and segments are not looked across: lanes meet between them.
uint32_t orderLanes(const proto::Program &program, int rank, std::vector<CommandSegment> &segments);

/// Fails unless each command names a lane and waits for earlier ones only.
Status checkLanes(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_CORE_LANE_ORDER_H
