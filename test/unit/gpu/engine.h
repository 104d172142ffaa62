//===- engine.h - simulated streams, events and memory ----------*- C++ -*-===//

#ifndef TEST_UNIT_GPU_ENGINE_H
#define TEST_UNIT_GPU_ENGINE_H

#include "ptx/launch.h"
#include "recording.h"
#include "runtime/device/cuda/driver_api.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace recording {
struct Captured;
} // namespace recording

namespace zero::rt::cuda {
struct ContextHandle {
  int device = 0, retained = 0;
};
struct EventHandle {
  uint64_t recorded = 0, done = 0;                     ///< counts; only the last record counts
  std::shared_ptr<const recording::Captured> captured; ///< if that was part of a capture
  bool asked = false;                                  ///< whether the host waits for it
  bool isTimed = false;
  double time = 0; ///< milliseconds on the engine's clock
};
struct FunctionHandle {
  const ptx::Entry *entry;
  uint64_t module = 0;
  uint64_t mostSharedBytes = 48 << 10; ///< of a launch
};
struct ModuleTag {
  ptx::Program program;
  std::vector<uint64_t> variables; ///< addresses
  std::map<std::string, FunctionHandle> functions;
};
} // namespace zero::rt::cuda

namespace recording {

using namespace zero::rt::cuda;

/// A kernel that may run for ever: one of NCCL, which waits for those of the other ranks, or one
/// that a test stalls.
struct LongKernel {
  const void *communicator;
  std::string name; ///< "NCCL kernel of collective 3 of rank 1"
};

enum : Result {
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
};

struct GraphRun;

/// Work that was submitted to a stream and has not run yet.
struct Work {
  std::function<bool()> ready; ///< empty: always ready
  std::function<void()> run;
  std::vector<uint64_t> places;   ///< device and host memory that the work accesses
  uint64_t source = 0, bytes = 0; ///< host memory that it copies from
  std::shared_ptr<const LongKernel> kernel = nullptr;
  bool isCall = false; ///< of a function of the host, which may read any pinned memory
  /// Pinned memory that it overwrites: holds garbage from the call on.
  std::optional<std::pair<char *, uint64_t>> spoils = std::nullopt;
  /// If it differs each time that its graph is launched.
  std::function<Work()> renew = nullptr;
  std::shared_ptr<GraphRun> graph = nullptr; ///< a launch of one, instead of `run`
};

/// Work of a graph, behind the nodes of some indices.
struct Node {
  Work work;
  std::set<size_t> after;
};

/// A launch of a graph that is not over.
struct GraphRun {
  std::vector<Node> nodes;
  std::vector<bool> done;
  size_t left = 0;

  bool isOpen(size_t index) const;
};

/// The commands of some streams since cuStreamBeginCapture.
struct Capture {
  Stream origin;
  std::thread::id thread;
  std::vector<Node> nodes;
  std::map<Stream, std::set<size_t>> tails; ///< the nodes that the next one of a stream follows
  bool isOver = false;
  Result error = kSuccess; ///< what made it invalid
};

/// The place of an event in a capture.
struct Captured {
  std::shared_ptr<Capture> capture;
  std::set<size_t> tails;
};

} // namespace recording

namespace zero::rt::cuda {
struct GraphTag {
  std::vector<recording::Node> nodes;
};
struct GraphExecTag {
  std::vector<recording::Node> nodes;
};
} // namespace zero::rt::cuda

namespace recording {

class Engine {
public:
  static Engine &get();
  /// In a program that is no test: ends it with an error if there were problems.
  ~Engine();

  std::recursive_mutex mutex;
  Settings settings;
  Counts counted;
  /// How often everything was reset: a thread that a stuck session has left may still end what it
  /// made before.
  uint64_t resets = 0;
  std::vector<std::string> problems;
  std::map<std::string, std::tuple<int, int, Kernel>> kernels;
  std::set<std::pair<std::string, int>> stalled, failing; ///< kernels and devices; -1: all
  std::vector<ContextHandle> contexts;
  std::set<Event> events;
  std::set<ModuleHandle> modules;
  std::set<GraphHandle> capturedGraphs;
  std::set<GraphExec> graphs;
  ptx::DeviceMemory memory;
  double clock = 0; ///< milliseconds that products have taken; all else takes no time
  /// Of kernels, by device. As in CUDA, nothing runs on that device any more.
  std::map<int, std::string> faults;
  std::thread::id inHostFunction; ///< the thread that runs one, if any does

  void problem(const std::string &what) {
    if (problems.size() < 20)
      problems.push_back(what);
  }

  /// Handles of one kind, which callers own from now on.
  template <typename Handle>
  Handle own(std::set<Handle> &all, Handle made) {
    all.insert(made);
    ++counted.alive;
    return made;
  }
  /// Whether `call` may destroy `handle`, which is then no longer in `all`. It is a problem if it
  /// was not, or if pending work uses it.
  template <typename Handle>
  bool disown(std::set<Handle> &all, Handle handle, const char *call);

  /// Memory.
  uint64_t allocate(bool onDevice, size_t bytes);
  Result release(bool onDevice, uint64_t place, const char *call);
  /// Returns the host address of device memory [place, place + bytes). All of it must be allocated.
  char *translate(uint64_t place, uint64_t bytes, const char *who);
  /// Something that is not a kernel wrote device memory; without `bytes` up to the end.
  void wrote(uint64_t place, std::optional<uint64_t> bytes = std::nullopt);
  /// Something that is not a kernel reads it.
  void checkWritten(uint64_t place, uint64_t bytes, const char *who);
  /// Runs a kernel of a module.
  void launch(const ptx::Entry &entry, ptx::Shape shape, const std::vector<uint8_t> &arguments,
              uint64_t sharedBytes);
  void fail(const std::string &what);
  /// The fault on the device of the calling thread; empty: none.
  std::string fault() const;
  void checkPinned(const void *place, uint64_t bytes, const char *who);

  /// Streams.
  Stream makeStream();
  Result destroy(Stream stream);
  bool isStream(Stream stream) const { return streams.count(stream) > 0; }
  /// Work that a call starts. Where `stream` is captured it becomes a node.
  Result start(Stream stream, Work work);
  Result add(Stream stream, Work work);
  /// Puts garbage where `work` will write pinned memory, unless earlier work may read it.
  void spoil(const Work &work);

  /// Captures: recording_graphs.cpp.
  std::shared_ptr<Capture> captureOf(Stream stream) const;
  /// A call that nobody may make while this thread captures: makes the capture invalid.
  bool isForbidden(const char *call);
  /// Whether a graph has a kernel of `communicator`.
  bool hasGraphOf(const void *communicator) const;
  Result waitInCapture(Stream stream, const EventHandle &event);
  Result invalidate(Capture &capture, Result error, const std::string &what);
  bool isDone(Stream stream) const { return streams.at(stream).empty(); }
  /// As CUDA does before `call`: waits until no LongKernel is in any stream. It is a problem if one
  /// is there for too long. Without the lock. `communicator`: waits for its kernels only.
  void awaitKernels(const char *call, const void *communicator = nullptr);
  std::shared_ptr<const LongKernel> unfinished(const void *communicator) const;
  /// Runs some of the work: at least one piece, if any piece is ready.
  void progress();
  /// Whether pending work accesses an address from `first` to `last`.
  bool isTouched(uint64_t first, uint64_t last) const;
  /// Whether pending work copies from host memory [place, place + bytes).
  bool isSource(uint64_t place, uint64_t bytes) const;
  std::map<Stream, std::shared_ptr<Capture>> captures; ///< those in progress, by stream

private:
  /// Calls body(work) for all pending work, until it returns true.
  template <typename Body>
  bool anyPending(Body body) const;

  Engine();
  void restart();
  bool runOne();
  static void runFirst(std::deque<Work> &queue, size_t node);
  bool isTest = false;
  std::mt19937_64 random{1};
  std::map<Stream, std::deque<Work>> streams;
  std::map<Stream, int> deviceOf;
  int active = 0;                          ///< the device whose work runs
  std::map<uint64_t, uint64_t> hostMemory; ///< sizes in bytes by start address
  uint64_t nextStream = 1;
  uint64_t deviceBytes = 0; ///< allocated

  friend void reset(const Settings &);
};

template <typename Body>
bool Engine::anyPending(Body body) const {
  for (const auto &[stream, queue] : streams)
    for (const Work &work : queue) {
      if (body(work))
        return true;
      for (size_t node = 0; work.graph && node < work.graph->nodes.size(); ++node)
        if (!work.graph->done[node] && body(work.graph->nodes[node].work))
          return true;
    }
  return false;
}

template <typename Handle>
bool Engine::disown(std::set<Handle> &all, Handle handle, const char *call) {
  if (all.erase(handle) == 0) {
    problem(std::string(call) + " of what is not there");
    return false;
  }
  const auto place = reinterpret_cast<uint64_t>(handle);
  if (isTouched(place, place + 1))
    problem(std::string(call) + " of what is in use");
  --counted.alive;
  return true;
}

/// The context of the calling thread.
Context &current();

uint64_t mostSharedBytesOf(int capability);

} // namespace recording

#endif // TEST_UNIT_GPU_ENGINE_H
