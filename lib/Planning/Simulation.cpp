//===- Simulation.cpp - when the commands of a step run -------------------===//

#include "zero/Planning/Simulation.h"

#include <algorithm>

namespace zero::planning {

Simulation::Simulation(std::vector<double> slowness, bool overlaps) : overlaps(overlaps) {
  for (double factor : slowness)
    ranks.push_back({factor, {0.0}, 0, {}});
}

/// Lanes that do not overlap are one.
double Simulation::readyAt(Rank &rank, const TimedCommand &command) const {
  const size_t lane = overlaps ? command.lane : 0;
  if (lane >= rank.free.size())
    rank.free.resize(lane + 1, rank.joined);
  double ready = rank.free[lane];
  for (size_t wait : command.waits)
    ready = std::max(ready, rank.slots[wait].end);
  return ready;
}

size_t Simulation::run(const TimedCommand &command) {
  double last = 0;
  for (Rank &rank : ranks) {
    const double ready = readyAt(rank, command);
    rank.slots.push_back({ready, 0, 0});
    last = std::max(last, ready);
  }
  for (Rank &rank : ranks) {
    TimeSlot &slot = rank.slots.back();
    slot.waited = command.isCollective ? last - slot.begin : 0;
    slot.end =
        slot.begin + slot.waited + command.seconds * (command.isCollective ? 1 : rank.slowness);
    rank.free[overlaps ? command.lane : 0] = slot.end;
  }
  return ranks.front().slots.size() - 1;
}

void Simulation::join() {
  for (Rank &rank : ranks) {
    rank.joined = *std::max_element(rank.free.begin(), rank.free.end());
    std::fill(rank.free.begin(), rank.free.end(), rank.joined);
  }
}

double Simulation::seconds() const {
  double last = 0;
  for (const Rank &rank : ranks)
    last = std::max(last, *std::max_element(rank.free.begin(), rank.free.end()));
  return last;
}

} // namespace zero::planning
