//===- disk_memory.h - the nvme tier between steps --------------*- C++ -*-===//

#ifndef RUNTIME_IO_DISK_MEMORY_H
#define RUNTIME_IO_DISK_MEMORY_H

#include "runtime/io/disk_queue.h"
#include "runtime/io/tier_files.h"
#include "runtime/support/memory.h"

#include <cstdlib>

namespace zero::rt {

/// The arena in tier files, a piece at a time through a buffer of fixed size. Bytes beside
/// those that are written, in the same blocks of the disk, stay as they are.
class DiskMemory final : public Memory {
public:
  /// `files` must outlive it.
  static Status open(const TierFiles &files, DiskQueue::Kind kind,
                     std::unique_ptr<DiskMemory> &memory);

  char *host() const override { return nullptr; }
  bool startsAsZeros() const override { return files.startsAsZeros(); }
  const DiskQueue &getQueue() const { return *queue; }

private:
  explicit DiskMemory(const TierFiles &files);
  Status readPieces(uint64_t offset, uint64_t bytes, const Piece &use) const override;
  Status writePieces(uint64_t offset, uint64_t bytes, const Piece &make) override;
  Status move(bool writes, uint64_t offset, uint64_t bytes, uint64_t at) const;

  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  const TierFiles &files;
  std::unique_ptr<DiskQueue> queue;
  std::unique_ptr<char, Free> staging;
};

} // namespace zero::rt

#endif // RUNTIME_IO_DISK_MEMORY_H
