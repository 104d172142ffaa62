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

namespace zero::rt::cuda {
struct ContextHandle {
  int device = 0, retained = 0;
};
struct EventHandle {
  uint64_t recorded = 0, done = 0; ///< counts; only the last record counts
  bool asked = false;              ///< whether the host waits for it
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

/// Work that was submitted to a stream and has not run yet.
struct Work {
  std::function<bool()> ready; ///< empty: always ready
  std::function<void()> run;
  std::vector<uint64_t> places;   ///< device and host memory that the work accesses
  uint64_t source = 0, bytes = 0; ///< host memory that it copies from
  std::shared_ptr<const LongKernel> kernel = nullptr;
};

class Engine {
public:
  static Engine &get();
  /// In a program that is no test: ends it with an error if there were problems.
  ~Engine();

  std::recursive_mutex mutex;
  Settings settings;
  Counts counted;
  std::vector<std::string> problems;
  std::map<std::string, std::tuple<int, int, Kernel>> kernels;
  std::set<std::pair<std::string, int>> stalled, failing; ///< kernels and devices; -1: all
  std::vector<ContextHandle> contexts;
  std::set<Event> events;
  std::set<ModuleHandle> modules;
  ptx::DeviceMemory memory;
  /// Of kernels, by device. As in CUDA, nothing runs on that device any more.
  std::map<int, std::string> faults;

  void problem(const std::string &what) {
    if (problems.size() < 20)
      problems.push_back(what);
  }

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
  Result add(Stream stream, Work work);
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

private:
  Engine();
  void restart();
  bool runOne();
  bool isTest = false;
  std::mt19937_64 random{1};
  std::map<Stream, std::deque<Work>> streams;
  std::map<Stream, int> deviceOf;
  int active = 0;                          ///< the device whose work runs
  std::map<uint64_t, uint64_t> hostMemory; ///< sizes in bytes by start address
  uint64_t nextStream = 1;

  friend void reset(const Settings &);
};

/// The context of the calling thread.
Context &current();

uint64_t mostSharedBytesOf(int capability);

} // namespace recording

#endif // TEST_UNIT_GPU_ENGINE_H
