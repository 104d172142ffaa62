//===- disk_queue.cpp - fast transfers to and from a disk -----------------===//

#include "runtime/io/disk_queue.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

Status DiskQueue::make(Kind kind, size_t drives, std::unique_ptr<DiskQueue> &queue) {
  int why = 0;
  if (kind != Kind::Threads)
    queue = makeRingQueue(drives, why);
  if (kind == Kind::Ring && !queue)
    return fail(ZERO_RT_IO, "the kernel allows no io_uring: %s", std::strerror(why));
  return queue ? Status() : makeThreadQueue(drives, queue);
}

void TransferBlocks::skipEmpty() {
  while (!transfers.empty() && begin >= transfers.front().bytes) {
    transfers = transfers.subspan(1);
    begin = 0;
  }
}

TransferBlock TransferBlocks::take() {
  const Transfer &transfer = transfers.front();
  TransferBlock block{&transfer, begin, transfer.bytes};
  block.end = begin + std::min({DiskQueue::kBlock, block.bytes(), block.place().bytes});
  begin = block.end;
  skipEmpty();
  return block;
}

static Status checkAligned(const Transfer &transfer) {
  const auto memory = reinterpret_cast<uintptr_t>(transfer.memory);
  if ((memory | transfer.offset | transfer.bytes) % kDiskAlignment == 0)
    return {};
  return fail(ZERO_RT_INTERNAL,
              "'%s': expected a transfer aligned to %llu bytes, got %llu bytes at %llu",
              escape(transfer.files->at(transfer.offset).file->path).c_str(),
              static_cast<unsigned long long>(kDiskAlignment),
              static_cast<unsigned long long>(transfer.bytes),
              static_cast<unsigned long long>(transfer.offset));
}

Status DiskQueue::run(std::span<const Transfer> transfers) {
  for (const Transfer &transfer : transfers)
    ZERO_RT_TRY(checkAligned(transfer));
  const TransferBlocks blocks(transfers);
  return blocks.isEmpty() ? Status() : move(blocks);
}

Status checkMoved(const TransferBlock &block, int64_t result) {
  // A partial block occurs only at the end of a file.
  if (result > 0 && uint64_t(result) % kDiskAlignment == 0)
    return {};
  const Stripes::Place place = block.place();
  return fail(ZERO_RT_IO, "cannot %s %llu bytes at %llu of '%s': %s",
              block.transfer->writes ? "write" : "read",
              static_cast<unsigned long long>(block.bytes()),
              static_cast<unsigned long long>(place.offset), escape(place.file->path).c_str(),
              result < 0 ? std::strerror(static_cast<int>(-result)) : "the file ends there");
}

} // namespace zero::rt
