//===- disk_queue.h - fast transfers to and from a disk ---------*- C++ -*-===//

#ifndef RUNTIME_IO_DISK_QUEUE_H
#define RUNTIME_IO_DISK_QUEUE_H

#include "runtime/io/stripes.h"
#include "runtime/support/file.h"
#include "runtime/support/status.h"

#include <cstdint>
#include <memory>
#include <span>

namespace zero::rt {

/// Bytes that move between memory and open files.
struct Transfer {
  bool writes = false;
  const Stripes *files = nullptr;
  uint64_t offset = 0; ///< in the stripes
  void *memory = nullptr;
  uint64_t bytes = 0;
};

/// The rest of a block of a transfer, as bytes of the transfer. It is in one file.
struct TransferBlock {
  const Transfer *transfer = nullptr;
  uint64_t begin = 0, end = 0;

  Stripes::Place place() const { return transfer->files->at(transfer->offset + begin); }
  char *memory() const { return static_cast<char *>(transfer->memory) + begin; }
  uint64_t bytes() const { return end - begin; }
};

/// The blocks of several transfers, one after the other.
class TransferBlocks {
public:
  explicit TransferBlocks(std::span<const Transfer> transfers) : transfers(transfers) {
    skipEmpty();
  }
  bool isEmpty() const { return transfers.empty(); }
  TransferBlock take();

private:
  void skipEmpty();

  std::span<const Transfer> transfers; ///< the first one from byte `begin` on
  uint64_t begin = 0;
};

/// Transfers bytes in blocks, with many in flight, as a drive needs for full speed. Created once
/// and used by one thread. run() allocates nothing.
class DiskQueue {
public:
  enum class Kind {
    Any,    ///< a ring where the kernel allows it, else threads
    Ring,   ///< io_uring(7)
    Threads ///< that call pread and pwrite
  };

  /// Makes a queue for so many drives. Fails when `kind` is Ring and the kernel has none.
  static Status make(Kind kind, size_t drives, std::unique_ptr<DiskQueue> &queue);
  virtual ~DiskQueue() = default;

  /// "io_uring" or "4 threads".
  virtual const char *name() const = 0;

  /// Does all of `transfers`, and returns when they are done. They may run in any order, so none
  /// may write what another one accesses. Short transfers are continued; a file that ends early, a
  /// full disk and errors of the drive name the file and the place. Nothing is on its way when it
  /// returns, also after an error.
  Status run(std::span<const Transfer> transfers);
  Status run(const Transfer &transfer) { return run(std::span(&transfer, 1)); }

  /// Bytes in one request, and how many requests are on their way for each drive at most: beyond,
  /// drives measured here gain nothing.
  static constexpr uint64_t kBlock = Stripes::kBytes;
  static constexpr unsigned kDepth = 16;

protected:
  virtual Status move(TransferBlocks blocks) = 0;
};

/// Fails unless a request for `block` that returned `result` (bytes moved, or minus errno) may be
/// continued.
Status checkMoved(const TransferBlock &block, int64_t result);

/// Null where the kernel allows no ring; `why` is errno then.
std::unique_ptr<DiskQueue> makeRingQueue(size_t drives, int &why);
/// Fails where its threads cannot be started.
Status makeThreadQueue(size_t drives, std::unique_ptr<DiskQueue> &queue);

} // namespace zero::rt

#endif // RUNTIME_IO_DISK_QUEUE_H
