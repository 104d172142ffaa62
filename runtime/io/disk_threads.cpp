//===- disk_threads.cpp - transfers by threads that wait ------------------===//

#include "runtime/io/disk_queue.h"

#include "runtime/support/thread.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <unistd.h>

namespace zero::rt {

namespace {
class ThreadQueue final : public DiskQueue {
public:
  Status start() {
    for (std::thread &thread : threads)
      ZERO_RT_TRY(startThread("transfers to a disk", thread, [this] { work(); }));
    return {};
  }
  ~ThreadQueue() override {
    {
      std::lock_guard lock(mutex);
      isEnding = true;
    }
    changed.notify_all();
    for (std::thread &thread : threads)
      if (thread.joinable())
        thread.join();
  }
  const char *name() const override { return "4 threads"; }

private:
  Status move(TransferBlocks blocks) override;
  void work();
  static Status moveBlock(TransferBlock block);

  std::mutex mutex;
  std::condition_variable changed;
  TransferBlocks open{{}}; ///< the blocks that no thread has taken
  unsigned working = 0;    ///< threads that have a block
  Status first;            ///< the first error of the current transfers
  bool isEnding = false;
  std::array<std::thread, 4> threads;
};
} // namespace

Status ThreadQueue::moveBlock(TransferBlock block) {
  const Transfer &transfer = *block.transfer;
  auto [begin, end] = std::pair(block.begin, block.end);
  while (begin < end) {
    char *memory = static_cast<char *>(transfer.memory) + begin;
    const auto offset = static_cast<off_t>(transfer.offset + begin);
    const ssize_t moved = transfer.writes
                              ? ::pwrite(transfer.descriptor, memory, end - begin, offset)
                              : ::pread(transfer.descriptor, memory, end - begin, offset);
    if (moved < 0 && errno == EINTR)
      continue;
    ZERO_RT_TRY(checkMoved(transfer, transfer.offset + begin, end - begin,
                           moved < 0 ? -int64_t(errno) : int64_t(moved)));
    begin += static_cast<uint64_t>(moved);
  }
  return {};
}

/// Takes block after block, of one transfer after the other.
void ThreadQueue::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return isEnding || !open.isEmpty(); });
    if (isEnding)
      return;
    const TransferBlock block = open.take();
    ++working;
    lock.unlock();
    Status status = moveBlock(block);
    lock.lock();
    if (!status.ok() && first.ok()) {
      first = std::move(status);
      open = TransferBlocks({}); // The other blocks are not needed any more.
    }
    if (--working == 0 && open.isEmpty())
      changed.notify_all();
  }
}

Status ThreadQueue::move(TransferBlocks blocks) {
  std::unique_lock lock(mutex);
  open = blocks;
  first = {};
  changed.notify_all();
  changed.wait(lock, [&] { return working == 0 && open.isEmpty(); });
  return std::move(first);
}

Status makeThreadQueue(std::unique_ptr<DiskQueue> &queue) {
  auto made = std::make_unique<ThreadQueue>();
  ZERO_RT_TRY(made->start());
  queue = std::move(made);
  return {};
}

} // namespace zero::rt
