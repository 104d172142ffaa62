//===- simulation.cpp - simulate the times of commands --------------------===//

#include "runtime/verify/simulation.h"

#include <algorithm>

namespace zero::rt {

Simulation::Simulation(const std::vector<double> &slowness) {
  for (double factor : slowness)
    ranks.push_back({factor, {0.0}, 0, 0, {}});
}

double Simulation::readyAt(Rank &rank, const TimedCommand &command) {
  if (command.thread >= rank.free.size())
    rank.free.resize(command.thread + 1, rank.joined);
  double ready = rank.free[command.thread];
  for (size_t wait : command.waits)
    ready = std::max(ready, rank.slots[wait].end);
  if (command.thread == 0)
    rank.stalled += ready - rank.free[0];
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
    slot.waited = command.kind == TimedCommand::Collective ? last - slot.begin : 0;
    slot.end = slot.begin + slot.waited +
               command.seconds * (command.kind == TimedCommand::Computes ? rank.slowness : 1);
    rank.free[command.thread] = slot.end;
  }
  return ranks.front().slots.size() - 1;
}

void Simulation::join() {
  for (Rank &rank : ranks) {
    rank.joined = *std::max_element(rank.free.begin(), rank.free.end());
    rank.stalled += rank.joined - rank.free[0];
    std::fill(rank.free.begin(), rank.free.end(), rank.joined);
    rank.slots.clear();
  }
}

double Simulation::seconds() const {
  double last = 0;
  for (const Rank &rank : ranks)
    last = std::max(last, *std::max_element(rank.free.begin(), rank.free.end()));
  return last;
}

} // namespace zero::rt
