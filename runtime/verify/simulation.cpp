//===- simulation.cpp - simulate the times of commands --------------------===//

#include "runtime/verify/simulation.h"

#include <algorithm>
#include <limits>

namespace zero::rt {

Simulation::Simulation(const std::vector<double> &slowness) {
  for (double factor : slowness)
    ranks.push_back({factor, 0, 0, {}, {}, {}});
}

size_t Simulation::add(TimedCommand command) {
  if (command.thread >= order.size())
    order.resize(command.thread + 1);
  order[command.thread].push_back(commands.size());
  commands.push_back(std::move(command));
  return commands.size() - 1;
}

/// The current command of `thread`.
size_t Simulation::numberOf(const Rank &rank, size_t thread) const {
  return order[thread][rank.threads[thread].next];
}

/// Whether `thread` has a command left.
bool Simulation::isPending(const Rank &rank, size_t thread) const {
  return rank.threads[thread].next < order[thread].size();
}

/// Whether all commands that command `number` waits for are done.
bool Simulation::isReady(const Rank &rank, size_t number) const {
  return std::ranges::all_of(commands[number].waits, [&](size_t wait) { return rank.done[wait]; });
}

/// Of the commands that the current one of `thread` follows, the one that ended last.
size_t Simulation::lastBefore(const Rank &rank, size_t thread) const {
  const size_t place = rank.threads[thread].next, number = order[thread][place];
  size_t last = place > 0 ? order[thread][place - 1] : TimeSlot::kNone;
  for (size_t wait : commands[number].waits)
    if (last == TimeSlot::kNone || rank.slots[wait].end > rank.slots[last].end)
      last = wait;
  return last;
}

/// Whether `thread` of every rank waits at its current command. Ranks have the same commands, so a
/// rank that does is not behind, and none runs ahead of a collective.
bool Simulation::haveAllArrived(size_t thread) const {
  return std::ranges::all_of(
      ranks, [&](const Rank &rank) { return rank.threads[thread].state == Thread::Arrived; });
}

/// Brings the current command of `thread` one state further, if it is time.
bool Simulation::progress(Rank &rank, size_t thread, double now) {
  Thread &own = rank.threads[thread];
  if (!isPending(rank, thread))
    return false;
  const size_t number = numberOf(rank, thread);
  const TimedCommand &command = commands[number];
  TimeSlot &slot = rank.slots[number];
  switch (own.state) {
  case Thread::Idle:
    if (now < rank.joined || !isReady(rank, number))
      return false;
    slot.begin = now;
    slot.after = lastBefore(rank, thread);
    if (thread == 0)
      rank.stalled += now - own.free;
    own.left = command.seconds * (command.kind == TimedCommand::Computes ? rank.slowness : 1);
    own.since = now;
    own.speed = 1;
    own.state = command.kind == TimedCommand::Collective ? Thread::Arrived : Thread::Runs;
    return true;
  case Thread::Arrived:
    return false; // until all ranks have
  case Thread::Runs:
    if (own.end() > now)
      return false;
    slot.end = own.free = now;
    rank.done[number] = true;
    own.state = Thread::Idle;
    ++own.next;
    return true;
  }
  return false;
}

/// Brings all commands as far as they come without that time passes.
void Simulation::progressAll(double now) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Rank &rank : ranks)
      for (size_t thread = 0; thread < order.size(); ++thread)
        changed |= progress(rank, thread, now);
    for (size_t thread = 0; thread < order.size(); ++thread) {
      if (!haveAllArrived(thread))
        continue;
      changed = true;
      for (Rank &rank : ranks) {
        TimeSlot &slot = rank.slots[numberOf(rank, thread)];
        slot.waited = now - slot.begin;
        rank.threads[thread].since = now;
        rank.threads[thread].state = Thread::Runs;
      }
    }
  }
}

/// Sets the speeds of what runs on a rank, by its most oversubscribed resource.
void Simulation::setSpeeds(Rank &rank, double now) {
  Shares used = {};
  for (size_t thread = 0; thread < order.size(); ++thread)
    if (rank.threads[thread].state == Thread::Runs)
      for (size_t each = 0; each < kResources; ++each)
        used[each] += commands[numberOf(rank, thread)].shares[each];
  for (size_t thread = 0; thread < order.size(); ++thread) {
    Thread &own = rank.threads[thread];
    if (own.state != Thread::Runs)
      continue;
    double excess = 1;
    for (size_t each = 0; each < kResources; ++each)
      if (commands[numberOf(rank, thread)].shares[each] > 0)
        excess = std::max(excess, used[each]);
    if (own.speed == 1 / excess)
      continue; // its end stays exact
    own.left -= (now - own.since) * own.speed;
    own.since = now;
    own.speed = 1 / excess;
  }
}

/// When the next command ends, or a rank begins; infinity: nothing runs.
double Simulation::nextEvent(double now) const {
  double next = std::numeric_limits<double>::infinity();
  for (const Rank &rank : ranks) {
    if (rank.joined > now)
      next = std::min(next, rank.joined);
    for (const Thread &thread : rank.threads)
      if (thread.state == Thread::Runs)
        next = std::min(next, thread.end());
  }
  return next;
}

/// Lets the threads of a rank wait for each other.
void Simulation::meet(Rank &rank) {
  for (const Thread &thread : rank.threads)
    rank.joined = std::max(rank.joined, thread.free);
  rank.stalled += rank.joined - rank.threads.front().free;
}

void Simulation::begin(Rank &rank) const {
  Thread own;
  own.free = rank.joined;
  rank.threads.assign(std::max<size_t>(order.size(), 1), own);
  rank.slots.assign(commands.size(), {});
  rank.done.assign(commands.size(), false);
}

void Simulation::join() {
  for (Rank &rank : ranks)
    begin(rank);
  for (double now = 0; now < std::numeric_limits<double>::infinity(); now = nextEvent(now)) {
    progressAll(now);
    for (Rank &rank : ranks)
      setSpeeds(rank, now);
  }
  for (Rank &rank : ranks)
    meet(rank);
  commands.clear();
  order.clear();
}

double Simulation::seconds() const {
  double last = 0;
  for (const Rank &rank : ranks)
    last = std::max(last, rank.joined);
  return last;
}

} // namespace zero::rt
