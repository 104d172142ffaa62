//===- device.h - where a rank's memory lies and its kernels run *- C++ -*-===//
//
// A device is made once per session and shared by the ranks; a queue belongs to
// one rank and is used by that rank's thread only.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_H
#define RUNTIME_DEVICE_DEVICE_H

#include "runtime/format/format.h"

#include <memory>

namespace zero::rt {

/// One rank's memory of one tier. Aligned to 2 MiB, zero after touch().
class Arena {
public:
  virtual ~Arena() = default;
  virtual char *base() const = 0;
  virtual uint64_t bytes() const = 0;
  /// Writes every page, so that no step meets fresh memory. Called once, by the
  /// owning rank's thread: the pages then lie near it.
  virtual void touch() = 0;
};

/// Runs kernels for one rank, in order.
class Queue {
public:
  virtual ~Queue() = default;
  /// Runs kernel `kernel` of the program; `args` as in executable.proto.
  virtual Status launch(uint32_t kernel, void *const *args, int64_t length) = 0;
};

class Device {
public:
  virtual ~Device() = default;
  /// Reserves memory; `guarded` puts inaccessible pages on both sides of it.
  virtual Status reserve(uint64_t bytes, bool guarded, std::unique_ptr<Arena> &arena) = 0;
  /// Makes the kernels of `program` ready for `threads` threads per rank.
  /// Refuses, naming the kernel, one that needs more workspace than was planned.
  virtual Status prepare(const proto::Program &program, int threads) = 0;
  /// Called on the rank's own thread after prepare().
  virtual Status makeQueue(std::unique_ptr<Queue> &queue) = 0;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_DEVICE_H
