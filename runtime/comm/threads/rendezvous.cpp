//===- rendezvous.cpp - rendezvous of threads -----------------------------===//

#include "runtime/comm/threads/rendezvous.h"

#include <chrono>
#include <immintrin.h>
#include <thread>

namespace zero::rt {

using Clock = std::chrono::steady_clock;

/// How often a rank polls before it blocks: some microseconds, about the cost of waking it.
static constexpr int kLooks = 200;

Rendezvous::Rendezvous(int ranks, double timeoutSeconds)
    : ranks(ranks), timeoutSeconds(timeoutSeconds), places(new Place[ranks]) {}

bool Rendezvous::allArrived(uint64_t generation) const {
  for (int rank = 0; rank < ranks; ++rank)
    if (places[rank].arrived.load() < generation)
      return false;
  return true;
}

Status Rendezvous::arrive(int rank, const Call &call) {
  // Only this thread writes its own counter.
  uint64_t generation = places[rank].arrived.load(std::memory_order_relaxed) + 1;
  places[rank].arrived.store(generation);
  if (allArrived(generation)) {
    wake();
    return {};
  }
  const auto begin = Clock::now();
  Status status = wait(generation, call);
  places[rank].waited += uint64_t(std::chrono::nanoseconds(Clock::now() - begin).count());
  return status;
}

/// Who goes to sleep says so before it looks for the last time, and who arrives looks for
/// sleepers behind that: one of the two sees the other.
void Rendezvous::wake() {
  if (sleepers.load() == 0)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  arrival.notify_all();
}

/// Ranks, or other work of a rank, may outnumber the cores. A rank that waits for long releases its
/// core.
Status Rendezvous::wait(uint64_t generation, const Call &call) {
  for (int look = 0; look < kLooks; ++look) {
    if (allArrived(generation))
      return {};
    _mm_pause();
  }
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeoutSeconds);
  std::unique_lock<std::mutex> lock(mutex);
  sleepers.fetch_add(1);
  const bool inTime =
      arrival.wait_until(lock, std::chrono::time_point_cast<Clock::duration>(deadline), [&] {
        return allArrived(generation) || aborted.load(std::memory_order_acquire);
      });
  sleepers.fetch_sub(1);
  if (allArrived(generation))
    return {};
  if (inTime)
    return reason;
  lock.unlock();
  return timeOut(generation, call);
}

Status Rendezvous::timeOut(uint64_t generation, const Call &call) {
  std::string missing;
  int count = 0;
  for (int rank = 0; rank < ranks; ++rank)
    if (places[rank].arrived.load(std::memory_order_acquire) < generation) {
      missing += (count++ ? ", " : "") + std::to_string(rank);
    }
  abort(fail(ZERO_RT_TIMEOUT, "rank%s %s did not arrive at collective %llu ('%s') within %g s",
             count == 1 ? "" : "s", missing.c_str(), static_cast<unsigned long long>(call.index),
             escape(call.label).c_str(), timeoutSeconds));
  return abortReason();
}

void Rendezvous::abort(const Status &why) {
  std::lock_guard<std::mutex> lock(mutex);
  if (reason.ok())
    reason = why;
  aborted.store(true, std::memory_order_release);
  arrival.notify_all();
}

Status Rendezvous::abortReason() {
  std::lock_guard<std::mutex> lock(mutex);
  return reason;
}

Status Rendezvous::sleepUntilAborted() {
  while (!aborted.load(std::memory_order_acquire))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return abortReason();
}

} // namespace zero::rt
