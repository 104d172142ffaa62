//===- rendezvous.cpp - where threads meet --------------------------------===//

#include "runtime/comm/threads/rendezvous.h"

#include <chrono>
#include <immintrin.h>
#include <thread>

namespace zero::rt {

using Clock = std::chrono::steady_clock;

Rendezvous::Rendezvous(int ranks, double timeoutSeconds)
    : ranks(ranks), timeoutSeconds(timeoutSeconds), places(new Place[ranks]) {}

bool Rendezvous::allArrived(uint64_t generation) const {
  for (int rank = 0; rank < ranks; ++rank)
    if (places[rank].arrived.load(std::memory_order_acquire) < generation)
      return false;
  return true;
}

Status Rendezvous::arrive(int rank, const Call &call) {
  // Only this thread writes its own counter.
  uint64_t generation = places[rank].arrived.load(std::memory_order_relaxed) + 1;
  places[rank].arrived.store(generation, std::memory_order_release);
  if (allArrived(generation))
    return {};
  const auto begin = Clock::now();
  Status status = wait(generation, call);
  places[rank].waited += uint64_t(std::chrono::nanoseconds(Clock::now() - begin).count());
  return status;
}

Status Rendezvous::wait(uint64_t generation, const Call &call) {
  // Ranks may outnumber cores: spin for the usual short wait, then let others run.
  for (int spin = 0; spin < 50; ++spin) {
    if (allArrived(generation))
      return {};
    _mm_pause();
  }
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeoutSeconds);
  for (unsigned turn = 0; !allArrived(generation); ++turn) {
    if (aborted.load(std::memory_order_acquire))
      return abortReason();
    if (turn % 64 == 63 && Clock::now() > deadline)
      return timeOut(generation, call);
    std::this_thread::yield();
  }
  return {};
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
