//===- lanes.h - the streams of one rank ------------------------*- C++ -*-===//
//
// A lane of the program is a stream, a dependence between lanes an event: recorded behind
// the command that others wait for, waited for before those. All are made at start.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_LANES_H
#define RUNTIME_DEVICE_CUDA_LANES_H

#include "runtime/device/cuda/graph.h"
#include "runtime/device/device.h"

#include <functional>
#include <optional>

namespace zero::rt::cuda {

/// An event of one GPU.
class OwnedEvent {
public:
  OwnedEvent() = default;
  OwnedEvent(OwnedEvent &&other) noexcept
      : gpu(std::move(other.gpu)), event(std::exchange(other.event, nullptr)) {}
  ~OwnedEvent();
  /// `flags`: of cuEventCreate.
  Status create(std::shared_ptr<const Gpu> gpu, unsigned flags = kEventDisableTiming);
  Event get() const { return event; }

private:
  std::shared_ptr<const Gpu> gpu;
  Event event = nullptr;
};

/// Streams and events of one rank. Used by its thread.
class Lanes {
public:
  /// The number of the lane of call(), besides those of proto::Lane.
  static constexpr uint32_t kCalls = 31;
  /// `used`: the numbers of the lanes (proto::Lane, kCalls), without repetition.
  static Status create(const std::shared_ptr<const Gpu> &gpu, std::span<const uint32_t> used,
                       double timeoutSeconds, std::shared_ptr<Lanes> &lanes);
  ~Lanes();

  const Gpu &gpu() const { return *device; }
  std::shared_ptr<const Gpu> sharedGpu() const { return device; }
  const Driver &driver() const { return device->driver(); }

  /// Events for the signals 0 to count - 1.
  Status makeSignals(uint32_t count);
  /// The stream that commands are given to.
  Stream current() const { return active; }
  /// Calls `function` with `context` when the current lane has reached this place. Commands of this
  /// lane do not wait for that; all lanes do when they meet.
  Status call(HostFunction function, void *context);
  /// Makes the lane of `order` the current one; it waits for the order's signals.
  Status begin(const Order &order);
  /// Gives the signal of `order` once all that its lane was given is done.
  Status end(const Order &order);
  /// All lanes wait for the work that each of them has; the first one becomes current.
  Status meet();

  /// What the lanes are given from now on becomes a graph.
  Status beginGraph();
  Status endGraph(std::unique_ptr<Graph> &graph);
  /// After a failure of one of these, or in between. Else does nothing.
  void dropGraph();
  bool isCapturing() const { return captured != nullptr; }
  /// Lets `graph`, which these lanes have made, begin after all earlier work and end before all
  /// that is given later.
  Status run(const GpuGraph &graph);
  /// As in Queue.
  Status makeNotes(size_t count);
  Status note(size_t index);
  Status secondsBetween(size_t first, size_t second, double &seconds) const;

  /// Waits until everything is done. Fails (ZERO_RT_TIMEOUT) when no command has ended for so long,
  /// with the driver's error when a command failed, and when what is watched fails.
  Status finish();
  /// The same for `event`.
  Status await(Event event);
  /// Whether the work before `signal` is done, which was given. From any thread.
  Status isDone(uint32_t signal, bool &done) const;
  /// Without waiting: fails as finish() does. `works`: a command has ended since the last look.
  Status look(bool &works);

  /// Calls `check` while it waits for the GPU, until that fails: work may depend on other GPUs.
  /// Empty: no longer. `waitsFor`: the collective in which the GPU waits for other ranks, if it
  /// does.
  void watch(std::function<Status()> check, std::function<std::string()> waitsFor = {}) {
    watched = std::move(check);
    this->waitsFor = std::move(waitsFor);
  }
  /// The kernel that is launched next. `name` must stay where it is.
  void announce(const std::string &name);
  /// A failure of `call`, unless it was none. A fault of a kernel is the result of a later call: it
  /// may be of any that was launched since the last wait.
  Status check(Result result, const char *call) const;
  /// The fault of a kernel, if there was one: other libraries fail after it, too. Else `failure`.
  /// Drops the graph that is being made.
  Status causeOf(const Status &failure);

private:
  Lanes(std::shared_ptr<const Gpu> gpu, double timeoutSeconds)
      : device(std::move(gpu)), timeoutSeconds(timeoutSeconds) {}
  template <typename Query>
  Status poll(const char *call, Query query);
  /// The first lane waits for the others; they wait for it.
  Status join();
  Status fork();
  Status mark();
  std::vector<bool> progress() const;
  Status askWatched();
  Status giveUp(bool &waited);
  bool isInGraph() const;
  void setStuck(bool value);

  struct Lane {
    Stream stream = nullptr;
    OwnedEvent met;
  };
  std::shared_ptr<const Gpu> device;
  double timeoutSeconds;
  std::vector<Lane> lanes;               ///< of those that are in use
  std::vector<std::optional<size_t>> at; ///< by number: index into `lanes`
  std::vector<OwnedEvent> signals, notes;
  /// By signal: the number of times that the lanes had met when it was given last. Who waits for it
  /// after they have met again need not, and must not where a graph begins or ends in between.
  std::vector<uint64_t> givenAt;
  uint64_t meetings = 1;
  Stream active = nullptr;
  std::vector<OwnedEvent> marks;    ///< recorded in turn after some commands, to see progress
  uint64_t ended = 0, nextMark = 0; ///< commands; marks
  std::optional<size_t> endOfGraph; ///< the mark behind the last graph that was launched
  std::vector<bool> seen;           ///< marks that the last look found reached
  std::function<Status()> watched;
  std::function<std::string()> waitsFor;
  bool stuck = false; ///< a wait has ended by the timeout, and the work may never end
  const std::string *first = nullptr, *last = nullptr; ///< kernels since the last wait
  std::unique_ptr<GpuGraph> captured;                  ///< the graph that is being made
};

/// Returns from the enclosing function unless the driver of `lanes` carries out the call. The error
/// of a fault names the kernels that may have caused it.
#define ZERO_RT_LANES(lanes, name, ...)                                                            \
  ZERO_RT_TRY((lanes).check((lanes).driver().name(__VA_ARGS__), #name))

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_LANES_H
