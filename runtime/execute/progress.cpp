//===- progress.cpp - counters that threads wait for ----------------------===//

#include "runtime/execute/progress.h"

#include <immintrin.h>

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
    if (waiter.sleeps && waiter.counter == counter && waiter.count <= now)
      waiter.wake.notify_one();
}

Progress::Outcome Progress::await(size_t waiter, size_t counter, uint64_t count,
                                  std::optional<std::chrono::duration<double>> patience) {
  for (int i = 0; i < kLooks; ++i) {
    if (isStopped())
      return Stopped;
    if (at(counter) >= count)
      return Reached;
    _mm_pause();
  }
  return sleep(waiter, counter, count, /*untilStop=*/true, patience);
}

Progress::Outcome Progress::awaitLast(size_t waiter, size_t counter, uint64_t count,
                                      std::chrono::duration<double> patience) {
  return sleep(waiter, counter, count, /*untilStop=*/false, patience);
}

uint64_t Progress::sum() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < counters.size(); ++i)
    sum += at(i);
  return sum;
}

Progress::Outcome Progress::sleep(size_t index, size_t counter, uint64_t count, bool untilStop,
                                  std::optional<std::chrono::duration<double>> patience) {
  std::unique_lock lock(mutex);
  Waiter &waiter = waiters[index];
  waiter.sleeps = true, waiter.counter = counter, waiter.count = count;
  sleepers.fetch_add(1);
  auto isOver = [&] { return counters[counter].load() >= count || (untilStop && isStopped()); };
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
