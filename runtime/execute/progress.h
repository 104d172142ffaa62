//===- progress.h - counters that threads wait for --------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_PROGRESS_H
#define RUNTIME_EXECUTE_PROGRESS_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace zero::rt {

/// Counters that only grow. Each is incremented by one thread. A waiter polls for some
/// microseconds, then blocks; only waiters whose threshold is reached are woken. Nothing is
/// allocated after the constructor.
class Progress {
public:
  using Clock = std::chrono::steady_clock;
  enum Outcome { Reached, Stopped, TimedOut };
  /// What a counter should have reached.
  struct Threshold {
    size_t counter;
    uint64_t count;
  };

  Progress(size_t counters, size_t waiters) : counters(counters), waiters(waiters) {}

  /// Adds one to `counter`. All that its thread has written is there for who waits for it.
  void advance(size_t counter);
  uint64_t at(size_t counter) const { return counters[counter].load(std::memory_order_acquire); }
  /// Of all counters: changes with each of them.
  uint64_t sum() const;

  /// Waits, as thread `waiter`, until `counter` is at least `count`, all threads are stopped, or no
  /// counter has advanced for `patience`.
  Outcome await(size_t waiter, size_t counter, uint64_t count,
                std::optional<std::chrono::duration<double>> patience = {});
  /// The same until one of `thresholds` is reached.
  Outcome awaitAny(size_t waiter, std::span<const Threshold> thresholds,
                   std::optional<std::chrono::duration<double>> patience = {});
  /// Like await(), for the thread that stops the others. It does not return when they are stopped.
  Outcome awaitLast(size_t waiter, size_t counter, uint64_t count,
                    std::chrono::duration<double> patience);

  /// Ends all waits, those to come too.
  void stop();
  bool isStopped() const { return stopped.load(std::memory_order_acquire); }

private:
  struct Waiter {
    std::condition_variable wake;
    bool sleeps = false;
    std::span<const Threshold> thresholds; ///< of whom sleeps
  };
  bool isAnyReached(std::span<const Threshold> thresholds) const;
  Outcome sleep(size_t waiter, std::span<const Threshold> thresholds, bool untilStop,
                std::optional<std::chrono::duration<double>> patience);

  std::vector<std::atomic<uint64_t>> counters;
  std::atomic<bool> stopped{false};
  std::atomic<int> sleepers{0};
  std::mutex mutex; ///< protects the following fields
  std::vector<Waiter> waiters;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_PROGRESS_H
