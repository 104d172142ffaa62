//===- disk_threads.cpp - transfers by threads that wait ------------------===//

#include "runtime/io/disk_queue.h"

#include "runtime/support/thread.h"

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace zero::rt {

namespace {
class ThreadQueue final : public DiskQueue {
public:
  explicit ThreadQueue(size_t drives)
      : threads(kThreads * drives), title(std::to_string(threads.size()) + " threads") {}
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
  const char *name() const override { return title.c_str(); }

private:
  static constexpr size_t kThreads = 4; ///< of each drive

  Status move(TransferBlocks blocks) override;
  void work();
  static Status moveBlock(TransferBlock block);

  std::mutex mutex;
  std::condition_variable changed;
  TransferBlocks open{{}}; ///< the blocks that no thread has taken
  unsigned working = 0;    ///< threads that have a block
  Status first;            ///< the first error of the current transfers
  bool isEnding = false;
  std::vector<std::thread> threads;
  std::string title;
};
} // namespace

Status ThreadQueue::moveBlock(TransferBlock block) {
  while (block.bytes() > 0) {
    const Stripes::Place place = block.place();
    const int descriptor = place.file->descriptor;
    const auto offset = static_cast<off_t>(place.offset);
    const ssize_t moved = block.transfer->writes
                              ? ::pwrite(descriptor, block.memory(), block.bytes(), offset)
                              : ::pread(descriptor, block.memory(), block.bytes(), offset);
    if (moved < 0 && errno == EINTR)
      continue;
    ZERO_RT_TRY(checkMoved(block, moved < 0 ? -int64_t(errno) : int64_t(moved)));
    block.begin += static_cast<uint64_t>(moved);
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

Status makeThreadQueue(size_t drives, std::unique_ptr<DiskQueue> &queue) {
  auto made = std::make_unique<ThreadQueue>(drives);
  ZERO_RT_TRY(made->start());
  queue = std::move(made);
  return {};
}

} // namespace zero::rt
