//===- rank_memory.h - one rank's memory of all tiers -----------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_RANK_MEMORY_H
#define RUNTIME_EXECUTE_RANK_MEMORY_H

#include "runtime/device/device.h"
#include "runtime/execute/commands.h"
#include "runtime/format/tiers.h"
#include "runtime/io/disk_memory.h"
#include "runtime/support/meter.h"

namespace zero::rt {

/// How the nvme tier is reached.
struct DiskOptions {
  DriveFolders folders; ///< in each of which each rank has a file; empty: none was given
  DiskQueue::Kind queue = DiskQueue::Kind::Any;
};

/// One rank's arenas. Its files are deleted with it.
class RankMemory {
public:
  explicit RankMemory(DiskOptions options) : options(std::move(options)) {}
  ~RankMemory() { files.remove(); }

  /// Creates the rank's files, if the program stores anything on disk, and reserves their space. An
  /// error names the reason: no folder, a full disk, a file that is in use or belongs to another
  /// user.
  Status openFiles(const LoadedProgram &program, int rank);
  /// Reserves and touches the arenas in memory. Called on the rank's thread; `guarded` as in
  /// Device.
  Status reserve(Device &device, const proto::Program &program, int rank, bool guarded,
                 Meter &meter);

  Arena &device() { return *deviceArena; }
  ArenaBases bases() const;
  MemoryByTier byTier();

  TierFiles &getFiles() { return files; }
  const TierFiles &getFiles() const { return files; }
  DiskQueue::Kind queueKind() const { return options.queue; }
  /// How the files are accessed between steps: "io_uring" or "4 threads".
  const char *queueName() const { return disk->getQueue().name(); }

private:
  DiskOptions options;
  std::unique_ptr<Arena> deviceArena, hostArena; ///< of the host: null if there is none
  TierFiles files;
  std::unique_ptr<DiskMemory> disk; ///< null without files
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_RANK_MEMORY_H
