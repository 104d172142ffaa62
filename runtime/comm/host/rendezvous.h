//===- rendezvous.h - rendezvous of the ranks of a node ---------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_RENDEZVOUS_H
#define RUNTIME_COMM_HOST_RENDEZVOUS_H

#include "runtime/comm/communicator.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zero::rt {

/// What a rank publishes to the others in a collective.
struct Offer {
  const void *source = nullptr; ///< addresses in the memory of its process
  void *destination = nullptr;
  uint64_t index = 0;
  uint64_t elements = 0;
  int kind = 0;
  AxisSet axes = 0;
  char label[80] = ""; ///< the beginning of the call's

  void setLabel(const char *text);
  bool matches(const Offer &other) const {
    return kind == other.kind && elements == other.elements && index == other.index &&
           axes == other.axes;
  }
};

/// The state of a rendezvous: in memory of this process, or in a page that processes share. No
/// pointers, and valid when it is zero.
struct RendezvousPage {
  /// A rank's part, which only its thread writes.
  struct alignas(64) Place {
    std::atomic<uint64_t> arrived;
    std::atomic<uint64_t> begun; ///< the number of its last offer
    uint64_t waited;
    Offer offers[2];
  };
  enum Abort : uint32_t { None, Writing, Written };

  uint64_t token;                 ///< of the job
  std::atomic<uint32_t> aborted;  ///< an Abort
  std::atomic<uint32_t> sleepers; ///< that are blocked, or about to be
  std::atomic<uint32_t> bell;     ///< changes before they are woken
  int32_t code;                   ///< the reason of the abort: a zero_rt_code
  char reason[4000];
  Place places[]; ///< by place

  static uint64_t bytes(int ranks) {
    return sizeof(RendezvousPage) + uint64_t(ranks) * sizeof(Place);
  }
  /// In memory of this process.
  static std::shared_ptr<RendezvousPage> make(int ranks);
};

/// Barriers with a deadline that know who is missing, and a place for offers. Threads of one
/// process share one; each process has its own on the same page.
///
/// Ranks may meet in groups: each counts its barriers, and all come to the same barriers in the
/// same order, each in some group. So a rank waits until the others of its group have counted as
/// far.
class Rendezvous {
public:
  /// `members`: the numbers of the ranks, by place.
  Rendezvous(std::shared_ptr<RendezvousPage> page, std::vector<int> members, double timeoutSeconds)
      : page(std::move(page)), members(std::move(members)), timeoutSeconds(timeoutSeconds) {}
  /// For ranks 0, 1, ... of this process.
  Rendezvous(int ranks, double timeoutSeconds);

  int size() const { return int(members.size()); }
  int rankAt(int place) const { return members[size_t(place)]; }

  /// For collective `number`: written before arrive(), read by the others of the group
  /// between it and the arrive() of the next collective. Who comes there first already
  /// writes its next offer, so there are two places.
  Offer &offer(int place, int64_t number) { return page->places[place].offers[number % 2]; }
  /// Offer `number` of the rank at `place` is written.
  void announce(int place, int64_t number) { page->places[place].begun = uint64_t(number); }

  /// Waits until the ranks at `others` have arrived as often as that at `place`. Fails immediately
  /// after abort(), and after the timeout: it then aborts and names the missing ranks.
  Status arrive(int place, std::span<const int> others, const Call &call);
  /// Nanoseconds that the rank has waited so far; for its own thread.
  uint64_t waited(int place) const { return page->places[place].waited; }

  /// Ends the waits of all ranks with `reason`; the first reason given stays.
  void abort(const Status &reason);
  bool isAborted() const { return page->aborted.load() == RendezvousPage::Written; }
  /// Why it was aborted.
  Status abortReason() const;
  /// Blocks until the group is aborted: for a rank that a test stalls.
  Status sleepUntilAborted();

private:
  /// Places whose ranks are to arrive as often as it says.
  struct Barrier {
    uint64_t generation;
    std::span<const int> places;
  };
  uint64_t arrivalsOf(int place) const { return page->places[place].arrived.load(); }
  bool allArrived(const Barrier &barrier) const;
  bool isOver(const Barrier &barrier) const { return allArrived(barrier) || isAborted(); }
  void wake();
  Status wait(const Barrier &barrier, const Call &call);
  Status timeOut(const Call &call);

  std::shared_ptr<RendezvousPage> page;
  std::vector<int> members;
  double timeoutSeconds;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_RENDEZVOUS_H
