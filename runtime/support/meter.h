//===- meter.h - progress of long work --------------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_METER_H
#define RUNTIME_SUPPORT_METER_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace zero::rt {

/// Counts the bytes of successive pieces of work and reports progress, at most a few times per
/// second. Threads may add at the same time; one of them at a time reports.
class Meter {
public:
  /// `total` may grow until the last call of a piece of work, which has done == total.
  using Report = void (*)(void *context, const char *what, uint64_t done, uint64_t total);

  Meter() = default; ///< reports nothing
  Meter(Report report, void *context) : report(report), context(context) {}

  void begin(const char *what, uint64_t total = 0);
  /// There are so many bytes more to do.
  void expect(uint64_t bytes) { total += bytes; }
  void add(uint64_t bytes);
  /// All is done. Work without bytes is not reported.
  void end();

private:
  using Clock = std::chrono::steady_clock;
  void tell();

  Report report = nullptr;
  void *context = nullptr;
  const char *what = "";
  std::atomic<uint64_t> done = 0, total = 0;
  std::atomic<Clock::rep> next = 0; ///< time of the next report
  std::mutex telling;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_METER_H
