//===- disk_memory.cpp - the nvme tier between steps ----------------------===//

#include "runtime/io/disk_memory.h"

#include <algorithm>

namespace zero::rt {

/// Bytes of a piece. It may start anywhere in its first block: then there is one block more.
static constexpr uint64_t kStaging = uint64_t(1) << 20;
static_assert(kStaging % Memory::kPiece == 0 && kStaging % kDiskAlignment == 0);

static uint64_t roundUp(uint64_t bytes) {
  return (bytes + kDiskAlignment - 1) / kDiskAlignment * kDiskAlignment;
}

DiskMemory::DiskMemory(const TierFiles &files)
    : files(files),
      staging(static_cast<char *>(std::aligned_alloc(kDiskAlignment, kStaging + kDiskAlignment))) {}

Status DiskMemory::open(const TierFiles &files, DiskQueue::Kind kind,
                        std::unique_ptr<DiskMemory> &memory) {
  std::unique_ptr<DiskMemory> made(new DiskMemory(files));
  if (!made->staging)
    return fail(ZERO_RT_INTERNAL, "out of memory");
  ZERO_RT_TRY(DiskQueue::make(kind, files.getFiles().size(), made->queue));
  memory = std::move(made);
  return {};
}

/// Moves full blocks between `offset` of the arena and byte `at` of the buffer.
Status DiskMemory::move(bool writes, uint64_t offset, uint64_t bytes, uint64_t at) const {
  const Transfer transfer = files.transfer(writes, offset, staging.get() + at, bytes);
  return files.move(*queue, std::span(&transfer, 1));
}

Status DiskMemory::readPieces(uint64_t offset, uint64_t bytes, const Piece &use) const {
  const uint64_t shift = offset % kDiskAlignment;
  for (uint64_t done = 0; done < bytes; done += kStaging) {
    const uint64_t count = std::min(kStaging, bytes - done);
    ZERO_RT_TRY(move(false, offset + done - shift, roundUp(shift + count), 0));
    ZERO_RT_TRY(use(staging.get() + shift, done, count));
  }
  return {};
}

Status DiskMemory::writePieces(uint64_t offset, uint64_t bytes, const Piece &make) {
  const uint64_t shift = offset % kDiskAlignment;
  for (uint64_t done = 0; done < bytes; done += kStaging) {
    const uint64_t count = std::min(kStaging, bytes - done), begin = offset + done - shift;
    const uint64_t whole = roundUp(shift + count), last = whole - kDiskAlignment;
    if (shift > 0)
      ZERO_RT_TRY(move(false, begin, kDiskAlignment, 0));
    if (shift + count < whole && (last > 0 || shift == 0))
      ZERO_RT_TRY(move(false, begin + last, kDiskAlignment, last));
    ZERO_RT_TRY(make(staging.get() + shift, done, count));
    ZERO_RT_TRY(move(true, begin, whole, 0));
  }
  return {};
}

} // namespace zero::rt
