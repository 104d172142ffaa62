//===- rendezvous.cpp - rendezvous of the ranks of a node -----------------===//

#include "runtime/comm/host/rendezvous.h"

#include "runtime/support/core.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <linux/futex.h>
#include <new>
#include <numeric>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace zero::rt {

using Clock = std::chrono::steady_clock;

/// How often a rank polls before it blocks: some microseconds, about the cost of waking it.
static constexpr int kLooks = 200;

static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

void Offer::setLabel(const char *text) {
  const size_t length = std::min(std::strlen(text), sizeof(label) - 1);
  std::memcpy(label, text, length);
  label[length] = 0;
}

std::shared_ptr<RendezvousPage> RendezvousPage::make(int ranks) {
  constexpr std::align_val_t kAlignment{alignof(RendezvousPage)};
  void *memory = ::operator new(bytes(ranks), kAlignment);
  std::memset(memory, 0, bytes(ranks));
  return {static_cast<RendezvousPage *>(memory),
          [](RendezvousPage *page) { ::operator delete(page, kAlignment); }};
}

static std::vector<int> firstRanks(int ranks) {
  std::vector<int> all(size_t(ranks), 0);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Rendezvous::Rendezvous(int ranks, double timeoutSeconds)
    : Rendezvous(RendezvousPage::make(ranks), firstRanks(ranks), timeoutSeconds) {}

bool Rendezvous::allArrived(const Barrier &barrier) const {
  return std::ranges::all_of(barrier.places,
                             [&](int place) { return arrivalsOf(place) >= barrier.generation; });
}

Status Rendezvous::arrive(int place, std::span<const int> others, const Call &call) {
  RendezvousPage::Place &own = page->places[place];
  // Only this thread writes its own counter.
  const uint64_t generation = own.arrived.load(std::memory_order_relaxed) + 1;
  own.arrived.store(generation);
  const Barrier barrier{generation, others};
  if (allArrived(barrier)) {
    wake();
    return {};
  }
  const auto begin = Clock::now();
  Status status = wait(barrier, call);
  own.waited += uint64_t(std::chrono::nanoseconds(Clock::now() - begin).count());
  return status;
}

//===----------------------------------------------------------------------===//
// Blocking. The word of the futex is the bell: it lives in the page, and its waiters may belong to
// other processes.
//===----------------------------------------------------------------------===//

static uint32_t *wordOf(std::atomic<uint32_t> &bell) { return reinterpret_cast<uint32_t *>(&bell); }

static void sleepUntilRung(std::atomic<uint32_t> &bell, uint32_t seen, Clock::duration atMost) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(atMost);
  const timespec limit{seconds.count(), std::chrono::nanoseconds(atMost - seconds).count()};
  ::syscall(SYS_futex, wordOf(bell), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

/// Who goes to sleep says so before it looks for the last time, and who arrives looks for
/// sleepers behind that: one of the two sees the other.
void Rendezvous::wake() {
  if (page->sleepers.load() == 0)
    return;
  page->bell.fetch_add(1);
  ::syscall(SYS_futex, wordOf(page->bell), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

/// Ranks, or other work of a rank, may outnumber the cores. A rank that waits for long releases its
/// core.
Status Rendezvous::wait(const Barrier &barrier, const Call &call) {
  for (int look = 0; look < kLooks; ++look) {
    if (allArrived(barrier))
      return {};
    pauseCore();
  }
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(timeoutSeconds));
  page->sleepers.fetch_add(1);
  for (;;) {
    const uint32_t seen = page->bell.load();
    const auto now = Clock::now();
    if (isOver(barrier) || now >= deadline)
      break;
    sleepUntilRung(page->bell, seen, deadline - now);
  }
  page->sleepers.fetch_sub(1);
  if (allArrived(barrier))
    return {};
  return isAborted() ? abortReason() : timeOut(call);
}

/// The missing ranks of the own group may themselves wait for others. Those that have arrived least
/// often of all wait for nobody here. Who has arrived once more than they did knows the collective
/// that they are missing in.
Status Rendezvous::timeOut(const Call &call) {
  uint64_t least = UINT64_MAX;
  for (int place = 0; place < size(); ++place)
    least = std::min(least, arrivalsOf(place));
  std::string missing, label = call.label;
  uint64_t index = call.index;
  int count = 0;
  for (int place = 0; place < size(); ++place) {
    if (arrivalsOf(place) == least)
      missing += (count++ ? ", " : "") + std::to_string(rankAt(place));
    if (arrivalsOf(place) == least + 1) {
      const Offer &waits = offer(place, int64_t(page->places[place].begun.load()));
      index = waits.index, label = waits.label;
    }
  }
  abort(fail(ZERO_RT_TIMEOUT, "rank%s %s did not arrive at collective %llu ('%s') within %g s",
             count == 1 ? "" : "s", missing.c_str(), static_cast<unsigned long long>(index),
             escape(label).c_str(), timeoutSeconds));
  return abortReason();
}

//===----------------------------------------------------------------------===//
// Abort
//===----------------------------------------------------------------------===//

void Rendezvous::abort(const Status &why) {
  uint32_t none = RendezvousPage::None;
  if (!page->aborted.compare_exchange_strong(none, RendezvousPage::Writing))
    return;
  page->code = why.getCode();
  const std::string &text = why.getMessage();
  const size_t length = std::min(text.size(), sizeof(page->reason) - 1);
  std::memcpy(page->reason, text.data(), length);
  page->reason[length] = 0;
  page->aborted.store(RendezvousPage::Written);
  page->bell.fetch_add(1);
  ::syscall(SYS_futex, wordOf(page->bell), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

Status Rendezvous::abortReason() const {
  // Another thread may still be writing it, or its process was killed while it did.
  for (int look = 0; look < 100 && !isAborted(); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return isAborted() ? Status(zero_rt_code(page->code), page->reason)
                     : Status(ZERO_RT_ABORTED, "another rank has failed");
}

Status Rendezvous::sleepUntilAborted() {
  while (!isAborted())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return abortReason();
}

} // namespace zero::rt
