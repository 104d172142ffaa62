//===- rendezvous.h - rendezvous of threads ---------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_THREADS_RENDEZVOUS_H
#define RUNTIME_COMM_THREADS_RENDEZVOUS_H

#include "runtime/comm/communicator.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace zero::rt {

/// The data that a rank publishes to the others in a collective.
struct Offer {
  const void *data = nullptr;
  const char *label = "";
  uint64_t index = 0;
  uint64_t elements = 0;
  int kind = 0;

  bool matches(const Offer &other) const {
    return kind == other.kind && elements == other.elements && index == other.index;
  }
};

/// A barrier with a deadline that knows who is missing, and a place for offers.
class Rendezvous {
public:
  Rendezvous(int ranks, double timeoutSeconds);

  int size() const { return ranks; }

  /// For collective `number` of the group: written before arrive(), read by the others
  /// between it and the arrive() of the next collective. Who comes there first already
  /// writes its next offer, so there are two places.
  Offer &offer(int rank, int64_t number) { return places[rank].offers[number % 2]; }

  /// Waits until all ranks have arrived as often as `rank`. Fails immediately after abort(), and
  /// after the timeout: it then aborts and names the missing ranks.
  Status arrive(int rank, const Call &call);
  /// Nanoseconds that `rank` has waited so far; for its own thread.
  uint64_t waited(int rank) const { return places[rank].waited; }

  void abort(const Status &reason);
  /// Blocks until the group is aborted: for a rank that a test stalls.
  Status sleepUntilAborted();

private:
  struct alignas(64) Place {
    std::atomic<uint64_t> arrived{0};
    uint64_t waited = 0;
    Offer offers[2];
  };
  bool allArrived(uint64_t generation) const;
  void wake();
  Status wait(uint64_t generation, const Call &call);
  Status timeOut(uint64_t generation, const Call &call);
  Status abortReason();

  int ranks;
  double timeoutSeconds;
  std::unique_ptr<Place[]> places;
  std::atomic<bool> aborted{false};
  std::atomic<int> sleepers{0};
  std::condition_variable arrival; ///< of the last rank, or abort()
  std::mutex mutex;                ///< for blocked ranks, and protects the following fields
  Status reason;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_THREADS_RENDEZVOUS_H
