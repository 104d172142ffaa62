//===- device.h - interface of devices --------------------------*- C++ -*-===//
//
// A device is made once per session and shared by the ranks; an arena and a queue belong
// to one rank. A device may work behind its caller, on several lanes at a time: what a
// queue was given has happened when finish() returns, and what lanes owe to each other is
// said with begin() and end().
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_H
#define RUNTIME_DEVICE_DEVICE_H

#include "runtime/format/format.h"
#include "runtime/support/finite.h"
#include "runtime/support/memory.h"

#include <memory>
#include <vector>

namespace zero::rt {

/// One rank's memory of one tier, zero after touch(). On the host aligned to 2 MiB, on a
/// GPU to 256 bytes.
class Arena : public Memory {
public:
  /// The start of the memory, for commands. The host may dereference it only if host() allows it.
  virtual char *base() const = 0;
  virtual uint64_t bytes() const = 0;
  /// Writes every page, so that no step causes page faults. Called once, by the thread of the
  /// owning rank: the pages are then on its NUMA node.
  virtual Status touch() = 0;
  bool startsAsZeros() const override { return true; }
};

/// Between which tiers a copy moves bytes.
enum class CopyKind { DeviceToDevice, HostToDevice, DeviceToHost };

/// Bytes of an arena that the host writes or reads between steps, and where it does so: in the
/// arena itself, or in separate memory that is copied.
struct Window {
  uint64_t offset = 0, bytes = 0;
  char *host = nullptr;
};

/// The order of a command relative to those of other lanes.
struct Order {
  uint32_t lane = 0;
  std::vector<uint32_t> waits; ///< signals of commands that must be done
  int32_t signal = -1;         ///< that others wait for; -1: none
};

/// Commands that a queue can run again, all at once.
class Graph {
public:
  virtual ~Graph() = default;
};

/// Takes commands of one rank, by its thread. Those of one lane run in their order.
class Queue {
public:
  virtual ~Queue() = default;

  /// Runs kernel `kernel` of the program; `args` as in executable.proto.
  virtual Status launch(uint32_t kernel, void *const *args, int64_t length) = 0;
  /// Copies inside the arena of the device, or between it and the rank's arena of the host.
  virtual Status copy(void *destination, const void *source, uint64_t bytes, CopyKind kind) = 0;

  /// Finds host memory for `windows` of `arena`. Called once, before the first step.
  virtual Status open(Arena &arena, std::span<Window> windows) = 0;
  /// Copies the bytes that the host has written into window `index` to the arena.
  virtual Status push(uint32_t index) = 0;
  /// Copies the arena to the host.
  virtual Status pull(uint32_t index) = 0;
  /// Waits for the last push() or pull() of the window: the host may write or read there.
  virtual Status await(uint32_t index) = 0;
  /// Copies the arena to the host and then calls `look` with `context`: at the latest before
  /// finish() returns, on any thread, but one call after the other in the order of these.
  /// `look` must not use the device.
  virtual Status pullAndCall(uint32_t index, void (*look)(void *), void *context) {
    ZERO_RT_TRY(pull(index));
    ZERO_RT_TRY(await(index));
    look(context);
    return {};
  }

  /// Whether commands of different lanes may overtake each other. If so, each command, including a
  /// skipped one, is between begin() and end(). begin() waits for the signals of the order.
  virtual bool hasLanes() const { return false; }
  virtual Status makeSignals(uint32_t) { return {}; }
  virtual Status begin(const Order &) { return {}; }
  virtual Status end(const Order &) { return {}; }
  /// Whether the command with `signal` is done, which was enqueued before. From any thread.
  virtual Status isDone(uint32_t /*signal*/, bool &done) {
    done = true;
    return {};
  }
  /// While the rank's thread waits for something else: fails if the work has failed. `works` is
  /// whether any of it has ended since the last look.
  virtual Status look(bool &works) {
    works = false;
    return {};
  }
  /// Work that is enqueued from now on begins after all earlier work is complete.
  virtual Status meet() { return {}; }
  /// Whether it makes graphs. Commands between beginGraph() and endGraph() become one instead of
  /// being run. They must not wait on the host, and their orders must not name signals of earlier
  /// commands; run() puts the graph behind all earlier work and before all that follows.
  /// After a failure in between, dropGraph() lets the queue take commands again.
  virtual bool hasGraphs() const { return false; }
  virtual Status beginGraph() { return {}; }
  virtual Status endGraph(std::unique_ptr<Graph> &) { return {}; }
  virtual void dropGraph() {}
  virtual Status run(const Graph &) { return {}; }
  /// Whether note() tells when the device comes to a place, so that recordings need not wait for
  /// it.
  virtual bool hasClock() const { return false; }
  /// Room for the notes 0 to count - 1.
  virtual Status makeNotes(size_t /*count*/) { return {}; }
  /// Notes when the current lane arrives here.
  virtual Status note(size_t /*index*/) { return {}; }
  /// The seconds between two notes, when the work behind both is done.
  virtual Status secondsBetween(size_t /*first*/, size_t /*second*/, double &seconds) {
    seconds = 0;
    return {};
  }
  /// Waits for everything that was given. Fails with the error of a command, or when it
  /// takes longer than the session may wait.
  virtual Status finish() { return {}; }
  /// launch() of a kernel that reads a gradient, at all of which `check` looks, on a device whose
  /// memory the host can read; others only launch.
  virtual Status launchChecked(uint32_t kernel, void *const *args, int64_t length,
                               FiniteCheck & /*check*/) {
    return launch(kernel, args, length);
  }
};

class Device {
public:
  virtual ~Device() = default;
  /// Reserves memory of `tier`, that of the device or the host, for `rank`. Copies between the two
  /// and to a disk need no other memory. `guarded` puts inaccessible pages on both sides of it.
  virtual Status reserve(int rank, proto::Tier tier, uint64_t bytes, bool guarded,
                         std::unique_ptr<Arena> &arena) = 0;
  /// Makes the kernels of `program` ready for `threads` threads per rank.
  /// Refuses, naming the kernel, one that needs more workspace than was planned.
  virtual Status prepare(const proto::Program &program, int threads) = 0;
  /// Called on the thread of `rank` after prepare().
  virtual Status makeQueue(int rank, std::unique_ptr<Queue> &queue) = 0;
  /// For the kernels of lane HOST_COMPUTE, on its thread.
  virtual Status makeHostQueue(int rank, std::unique_ptr<Queue> &queue) = 0;

  /// The algorithms of matrix products that libraries choose on this machine, for
  /// useAlgorithms(); empty: there are none.
  virtual std::string algorithms(const proto::Program &) const { return {}; }
  /// Between steps: lets products run those in `text`, of `source`. Products that it lacks stay as
  /// they are. The error says why they cannot run here; nothing has changed then. `onlyChecks`:
  /// nothing changes.
  virtual Status useAlgorithms(const proto::Program &, const std::string & /*text*/,
                               const std::string & /*source*/, bool /*onlyChecks*/) {
    return {};
  }
  /// What was timed to choose algorithms, for people; empty: nothing.
  virtual std::string timed() const { return {}; }
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_DEVICE_H
