//===- disk_ring.cpp - transfers by io_uring ------------------------------===//

#include "runtime/io/disk_queue.h"

#include <cerrno>
#include <liburing.h>
#include <numeric>
#include <vector>

namespace zero::rt {

namespace {
class RingQueue final : public DiskQueue {
public:
  RingQueue(const io_uring &ring, unsigned slots) : ring(ring), requests(slots), idle(slots) {}
  ~RingQueue() override { io_uring_queue_exit(&ring); }
  const char *name() const override { return "io_uring"; }

private:
  Status move(TransferBlocks blocks) override;
  void ask(unsigned slot);
  Status collect(bool goOn);

  io_uring ring;
  std::vector<TransferBlock> requests; ///< the remaining parts of blocks in flight
  std::vector<unsigned> idle;          ///< slots; the first `idleSlots` count
  unsigned idleSlots = 0;
};
} // namespace

/// Submits the remaining part of the request in `slot`.
void RingQueue::ask(unsigned slot) {
  const TransferBlock &request = requests[slot];
  const Stripes::Place place = request.place();
  io_uring_sqe *entry = io_uring_get_sqe(&ring);
  const auto bytes = static_cast<unsigned>(request.bytes());
  if (request.transfer->writes)
    io_uring_prep_write(entry, place.file->descriptor, request.memory(), bytes, place.offset);
  else
    io_uring_prep_read(entry, place.file->descriptor, request.memory(), bytes, place.offset);
  io_uring_sqe_set_data(entry, &requests[slot]);
}

/// Waits for one request. A partial transfer is submitted again, if the transfer continues.
Status RingQueue::collect(bool goOn) {
  io_uring_cqe *entry = nullptr;
  int result = 0;
  do
    result = io_uring_wait_cqe(&ring, &entry);
  while (result == -EINTR);
  if (result < 0)
    return fail(ZERO_RT_IO, "cannot wait for the disk: error %d of io_uring", -result);
  auto *request = static_cast<TransferBlock *>(io_uring_cqe_get_data(entry));
  result = entry->res;
  io_uring_cqe_seen(&ring, entry);
  const auto slot = static_cast<unsigned>(request - requests.data());
  const bool again = result == -EINTR || result == -EAGAIN;
  Status status;
  if (!again) {
    status = checkMoved(*request, result);
    request->begin += status.ok() ? static_cast<uint64_t>(result) : 0;
  }
  if (status.ok() && goOn && request->begin < request->end)
    ask(slot);
  else
    idle[idleSlots++] = slot;
  return status;
}

Status RingQueue::move(TransferBlocks blocks) {
  std::iota(idle.begin(), idle.end(), 0);
  idleSlots = unsigned(idle.size());
  Status first;
  while (true) {
    while (first.ok() && !blocks.isEmpty() && idleSlots > 0) {
      const unsigned slot = idle[--idleSlots];
      requests[slot] = blocks.take();
      ask(slot);
    }
    if (idleSlots == idle.size())
      return first;
    if (int result = io_uring_submit(&ring); result < 0 && result != -EINTR && result != -EAGAIN)
      return fail(ZERO_RT_IO, "cannot reach the disk: error %d of io_uring", -result);
    Status status = collect(first.ok());
    if (first.ok())
      first = status;
  }
}

/// A ring has at least as many entries as there are slots, so there is always a free entry.
std::unique_ptr<DiskQueue> makeRingQueue(size_t drives, int &why) {
  io_uring ring;
  const auto slots = unsigned(DiskQueue::kDepth * drives);
  why = -io_uring_queue_init(slots, &ring, 0);
  return why == 0 ? std::make_unique<RingQueue>(ring, slots) : nullptr;
}

} // namespace zero::rt
