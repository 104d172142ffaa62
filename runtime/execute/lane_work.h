//===- lane_work.h - execute the commands of one lane -----------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_LANE_WORK_H
#define RUNTIME_EXECUTE_LANE_WORK_H

#include "runtime/execute/rank_memory.h"

#include <array>
#include <chrono>

namespace zero::rt {

/// The work that lanes of a rank have done.
struct LaneUse {
  struct Lane {
    std::chrono::nanoseconds time{0}; ///< in commands, without waiting for other ranks
    uint64_t bytes = 0;               ///< moved between tiers
  };
  std::array<Lane, proto::Lane_ARRAYSIZE> lanes;
  std::chrono::nanoseconds stalled{0}; ///< the rank's own thread has waited for the others

  LaneUse &operator+=(const LaneUse &other);
  LaneUse operator-(const LaneUse &other) const;
};

/// The state that a lane with a thread needs to execute its commands: transfers, collectives, or
/// computations of the host. Created and used by one thread.
class LaneWork {
public:
  /// `memory` and `communicator` must outlive it.
  static Status open(proto::Lane lane, Communicator &communicator, Device &device,
                     RankMemory &memory, std::unique_ptr<LaneWork> &work);

  using Clock = std::chrono::steady_clock;
  /// The start and end time of a command.
  struct Span {
    Clock::time_point begin, end;
    uint64_t waited = 0; ///< nanoseconds of it, for other ranks
  };

  /// Commands of the lane that run together. A disk then has many requests in flight even if each
  /// command moves few bytes.
  struct Batch {
    static constexpr size_t kMost = 16;
    uint64_t mostBytes = 0; ///< that it may move
    std::array<const Command *, kMost> commands;
    std::array<Span, kMost> spans; ///< set by run(): its time, divided by bytes
    size_t size = 0;

    void add(const Command &command) { commands[size++] = &command; }
  };

  /// Resets the count of collectives.
  void beginStep() { collectives = 0; }
  /// An empty batch. All bytes that it may move are in flight at the same time.
  Batch makeBatch() const;
  /// Whether `command` may run together with those of `batch`: it accesses a disk as they do, moves
  /// few bytes, and no bytes that they move.
  static bool accepts(const Batch &batch, const Command &command);
  /// Does the commands of `batch`, which are of this lane.
  Status run(Batch &batch);
  Status run(const Command &command, Span &span);
  /// Since the beginning.
  const LaneUse::Lane &use() const { return done; }

private:
  struct alignas(kDiskAlignment) Page {
    char bytes[kDiskAlignment];
  };
  explicit LaneWork(RankMemory &memory) : memory(memory) {}
  Status execute(const Command &command);
  Status move(const Batch &batch);

  RankMemory &memory;
  Communicator *communicator = nullptr; ///< of COLLECTIVE
  uint64_t collectives = 0;             ///< of the step so far
  std::unique_ptr<Queue> queue;         ///< of HOST_COMPUTE
  std::unique_ptr<DiskQueue> disk;      ///< of the lanes of a disk
  std::unique_ptr<Page[]> pages;        ///< for the bytes of each command after its last full block
  LaneUse::Lane done;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_LANE_WORK_H
