//===- lane_work.h - does the commands of one lane --------------*- C++ -*-===//

#ifndef RUNTIME_CORE_LANE_WORK_H
#define RUNTIME_CORE_LANE_WORK_H

#include "runtime/core/rank_memory.h"

namespace zero::rt {

/// What a lane of a program for CPUs needs to do its commands: transfers, collectives, or what
/// the host computes. Made and used by one thread.
class LaneWork {
public:
  /// `memory` and `communicator` must outlive it.
  static Status open(proto::Lane lane, Communicator &communicator, Device &device,
                     RankMemory &memory, std::unique_ptr<LaneWork> &work);

  /// Collectives are counted anew.
  void beginStep() { collectives = 0; }
  /// Does `command`, which is of this lane.
  Status run(const Command &command);
  const DiskTraffic &traffic() const { return moved; }
  /// Nanoseconds that collectives have waited for other ranks.
  uint64_t waited() const { return communicator ? communicator->waited() : 0; }

private:
  struct alignas(kDiskAlignment) Page {
    char bytes[kDiskAlignment];
  };
  explicit LaneWork(RankMemory &memory) : memory(memory) {}
  Status move(const DiskCommand &command);

  RankMemory &memory;
  Communicator *communicator = nullptr; ///< of COLLECTIVE
  uint64_t collectives = 0;             ///< of the step so far
  std::unique_ptr<Queue> queue;         ///< of HOST_COMPUTE
  std::unique_ptr<DiskQueue> disk;      ///< of the lanes of a disk
  std::unique_ptr<Page> page; ///< for what is left of a command behind its last whole block
  DiskTraffic moved;
};

} // namespace zero::rt

#endif // RUNTIME_CORE_LANE_WORK_H
