//===- tier_files.h - a rank's memory of the nvme tier ----------*- C++ -*-===//

#ifndef RUNTIME_IO_TIER_FILES_H
#define RUNTIME_IO_TIER_FILES_H

#include "runtime/io/drive_folders.h"
#include "runtime/io/stripes.h"
#include "runtime/io/tier_file.h"

#include <vector>

namespace zero::rt {

/// The arena of a rank in the nvme tier, in stripes over a file on each drive.
class TierFiles {
public:
  TierFiles() = default;
  TierFiles(const TierFiles &) = delete;

  /// Creates the files of the rank of `whole`, whose bytes are those of the arena. Removes all if
  /// one fails, with an error that names it.
  Status create(const DriveFolders &folders, const TierIdentity &whole);
  /// Closes and deletes them.
  void remove();
  bool empty() const { return files.empty(); }
  /// The files, the one with the first stripe first.
  const std::vector<DiskFile> &getFiles() const { return open; }

  /// Those of each file.
  Status beginStep();
  Status endStep();
  bool startsAsZeros() const;
  bool isDirect() const;

  /// A transfer of `bytes` between `memory` and byte `offset` of the arena, in full blocks.
  Transfer transfer(bool writes, uint64_t offset, void *memory, uint64_t bytes) const {
    return {writes, &stripes, offset, memory, bytes};
  }
  /// Does all of `transfers`, which are of these files.
  Status move(DiskQueue &queue, std::span<const Transfer> transfers) const;
  /// Bytes that went from and to the files since they were created, headers included.
  uint64_t bytesRead() const { return read; }
  uint64_t bytesWritten() const;

private:
  std::vector<TierFile> files;
  std::vector<DiskFile> open; ///< of `files`
  Stripes stripes;
  mutable std::atomic<uint64_t> read = 0, written = 0; ///< lanes have separate threads
};

} // namespace zero::rt

#endif // RUNTIME_IO_TIER_FILES_H
