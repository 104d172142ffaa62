//===- progress.cpp - counters that threads wait for ----------------------===//

#include "runtime/execute/progress.h"

#include "runtime/support/core.h"

#include <algorithm>

namespace zero::rt {

/// How often a thread polls before it blocks: some microseconds, about the cost of waking it.
static constexpr int kLooks = 100;

/// Who goes to sleep says so before it looks for the last time, and who has counted looks for
/// sleepers behind that: one of the two sees the other.
void Progress::advance(size_t counter) {
  const uint64_t now = counters[counter].fetch_add(1) + 1;
  if (sleepers.load() == 0)
    return;
  std::lock_guard lock(mutex);
  for (Waiter &waiter : waiters)
    if (waiter.sleeps && std::ranges::any_of(waiter.thresholds, [&](const Threshold &each) {
          return each.counter == counter && each.count <= now;
        }))
      waiter.wake.notify_one();
}

Progress::Outcome Progress::await(size_t waiter, size_t counter, uint64_t count,
                                  std::optional<std::chrono::duration<double>> patience) {
  const Threshold threshold{counter, count};
  return awaitAny(waiter, {&threshold, 1}, patience);
}

Progress::Outcome Progress::awaitAny(size_t waiter, std::span<const Threshold> thresholds,
                                     std::optional<std::chrono::duration<double>> patience) {
  for (int i = 0; i < kLooks; ++i) {
    if (isStopped())
      return Stopped;
    if (isAnyReached(thresholds))
      return Reached;
    pauseCore();
  }
  return sleep(waiter, thresholds, /*untilStop=*/true, patience);
}

Progress::Outcome Progress::awaitLast(size_t waiter, size_t counter, uint64_t count,
                                      std::chrono::duration<double> patience) {
  const Threshold threshold{counter, count};
  return sleep(waiter, {&threshold, 1}, /*untilStop=*/false, patience);
}

bool Progress::isAnyReached(std::span<const Threshold> thresholds) const {
  return std::ranges::any_of(thresholds, [&](const Threshold &each) {
    return counters[each.counter].load() >= each.count;
  });
}

uint64_t Progress::sum() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < counters.size(); ++i)
    sum += at(i);
  return sum;
}

Progress::Outcome Progress::sleep(size_t index, std::span<const Threshold> thresholds,
                                  bool untilStop,
                                  std::optional<std::chrono::duration<double>> patience) {
  std::unique_lock lock(mutex);
  Waiter &waiter = waiters[index];
  waiter.sleeps = true, waiter.thresholds = thresholds;
  sleepers.fetch_add(1);
  auto isOver = [&] { return isAnyReached(thresholds) || (untilStop && isStopped()); };
  bool isInTime = true;
  if (!patience)
    waiter.wake.wait(lock, isOver);
  for (uint64_t seen = sum(); patience && !isOver() && isInTime; seen = sum())
    isInTime = waiter.wake.wait_for(lock, *patience, isOver) || sum() != seen;
  sleepers.fetch_sub(1);
  waiter.sleeps = false;
  if (untilStop && isStopped())
    return Stopped;
  return isInTime ? Reached : TimedOut;
}

void Progress::stop() {
  std::lock_guard lock(mutex);
  stopped.store(true);
  for (Waiter &waiter : waiters)
    waiter.wake.notify_one();
}

} // namespace zero::rt
