//===- timeline.cpp - simulate a step with estimated times ----------------===//

#include "runtime/verify/timeline.h"

#include "runtime/format/tiers.h"
#include "runtime/verify/lifetimes.h"

#include <algorithm>
#include <cmath>

namespace zero::rt {

namespace {
/// Simulates the iterations of a program in sequence.
class Player {
public:
  Player(const proto::Program &program, const StepCosts &costs, bool keepsEvents)
      : costs(costs), keepsEvents(keepsEvents), overlaps(costs.overlaps || hasTransfers(program)),
        simulation(costs.slowness) {
    timeline.events.resize(costs.slowness.size());
  }

  void play(const proto::Segment &segment);
  Timeline finish();

private:
  void playIteration(const proto::Segment &segment, uint64_t iteration, uint64_t iterations);
  void addEvents(size_t rank, uint32_t iteration);
  void countCritical(const proto::Segment &segment);
  void countUse(const proto::Command &command, const TimeSlot &slot);
  uint32_t threadOf(proto::Lane lane) const {
    return lane == proto::COLLECTIVE && !overlaps ? uint32_t(proto::COMPUTE) : uint32_t(lane);
  }

  const StepCosts &costs;
  const bool keepsEvents, overlaps;
  Simulation simulation;
  uint32_t first = 0;     ///< index of the segment's first command
  std::vector<bool> runs; ///< by command of the segment: whether the iteration has it
  Timeline timeline;
};
} // namespace

uint64_t nanoseconds(double seconds) {
  return uint64_t(std::llround(std::min(seconds, 5e9) * 1e9));
}

static uint64_t movedBy(const proto::Command &command) {
  const proto::Copy &copy = command.copy();
  return copy.src().tier() == copy.dst().tier() ? 0 : copy.bytes();
}

static TimedCommand::Kind kindOf(const proto::Command &command) {
  return command.has_collective() ? TimedCommand::Collective
         : movedBy(command) > 0   ? TimedCommand::Moves
                                  : TimedCommand::Computes;
}

void Player::addEvents(size_t rank, uint32_t iteration) {
  std::vector<zero_rt_event> &events = timeline.events[rank];
  const auto begin = ptrdiff_t(events.size());
  for (uint32_t i = 0; i < runs.size(); ++i) {
    const TimeSlot &slot = simulation.slots(rank)[i];
    if (runs[i])
      events.push_back({first + i, iteration, nanoseconds(slot.begin), nanoseconds(slot.end),
                        nanoseconds(slot.waited)});
  }
  std::stable_sort(events.begin() + begin, events.end(),
                   [](const zero_rt_event &left, const zero_rt_event &right) {
                     return left.begin < right.begin;
                   });
}

void Player::countUse(const proto::Command &command, const TimeSlot &slot) {
  zero_rt_lane_use &lane = timeline.lanes[size_t(command.lane())];
  lane.seconds += slot.end - slot.begin - slot.waited;
  lane.bytes += movedBy(command);
}

/// Goes back from the command that ended last.
void Player::countCritical(const proto::Segment &segment) {
  const std::vector<TimeSlot> &slots = simulation.slots(0);
  if (slots.empty())
    return;
  size_t number = size_t(std::ranges::max_element(slots, {}, &TimeSlot::end) - slots.begin());
  for (; number != TimeSlot::kNone; number = slots[number].after)
    timeline.critical[size_t(segment.commands(int(number)).lane())] +=
        slots[number].end - slots[number].begin;
}

/// Waits are inside one iteration: the previous iteration is finished when it starts. A skipped
/// command keeps its position, because others may wait for it because of an earlier command.
void Player::playIteration(const proto::Segment &segment, uint64_t iteration, uint64_t iterations) {
  runs.clear();
  for (int i = 0; i < segment.commands_size(); ++i) {
    const proto::Command &command = segment.commands(i);
    runs.push_back(runsInIteration(command.when(), iteration, iterations));
    simulation.add({threadOf(command.lane()),
                    runs.back() ? costs.seconds[first + uint32_t(i)] : 0,
                    runs.back() ? kindOf(command) : TimedCommand::Computes,
                    {command.waits().begin(), command.waits().end()},
                    costs.shares[size_t(command.lane())]});
  }
  simulation.join();
  for (int i = 0; i < segment.commands_size(); ++i)
    if (runs[size_t(i)])
      countUse(segment.commands(i), simulation.slots(0)[size_t(i)]);
  countCritical(segment);
  for (size_t rank = 0; rank < timeline.events.size() && keepsEvents; ++rank)
    addEvents(rank, uint32_t(iteration));
}

void Player::play(const proto::Segment &segment) {
  const uint64_t iterations = std::max(segment.repeat(), 1u);
  for (uint64_t iteration = 0; iteration < iterations; ++iteration)
    playIteration(segment, iteration, iterations);
  first += uint32_t(segment.commands_size());
}

Timeline Player::finish() {
  timeline.seconds = simulation.seconds();
  timeline.stalled = simulation.stalled(0);
  return std::move(timeline);
}

StepCosts plannedCosts(const proto::Program &program) {
  StepCosts costs;
  costs.overlaps = program.overlaps();
  for (int i = 0; i < program.lane_shares_size(); ++i)
    costs.shares[size_t(i) / kResources][size_t(i) % kResources] = program.lane_shares(i);
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      costs.seconds.push_back(command.seconds());
  return costs;
}

Timeline layOut(const proto::Program &program, const StepCosts &costs, bool keepsEvents) {
  Player player(program, costs, keepsEvents);
  for (const proto::Segment &segment : program.segments())
    player.play(segment);
  return player.finish();
}

} // namespace zero::rt
