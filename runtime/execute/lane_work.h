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

/// The state that a lane of a program for CPUs needs to execute its commands: transfers,
/// collectives, or computations of the host. Created and used by one thread.
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

  /// Resets the count of collectives.
  void beginStep() { collectives = 0; }
  /// Does `command`, which is of this lane.
  Status run(const Command &command, Span &span);
  /// Since the beginning.
  const LaneUse::Lane &use() const { return done; }

private:
  struct alignas(kDiskAlignment) Page {
    char bytes[kDiskAlignment];
  };
  explicit LaneWork(RankMemory &memory) : memory(memory) {}
  Status execute(const Command &command);
  Status move(const DiskCommand &command);

  RankMemory &memory;
  Communicator *communicator = nullptr; ///< of COLLECTIVE
  uint64_t collectives = 0;             ///< of the step so far
  std::unique_ptr<Queue> queue;         ///< of HOST_COMPUTE
  std::unique_ptr<DiskQueue> disk;      ///< of the lanes of a disk
  std::unique_ptr<Page> page;           ///< for the bytes of a command after its last full block
  LaneUse::Lane done;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_LANE_WORK_H
