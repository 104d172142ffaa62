//===- recording_nccl.cpp - the symbols of NCCL ---------------------------===//

#include "engine.h"
#include "runtime/comm/nccl/nccl_api.h"
#include "runtime/comm/reduce.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <unistd.h>

using namespace recording;
using namespace zero::rt;

#define EXPORT extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                     \
  Engine &engine = Engine::get();                                                                  \
  std::lock_guard<std::recursive_mutex> lock(engine.mutex)

namespace {

namespace fs = std::filesystem;

constexpr NcclResult kUnhandledCudaError = 1;

/// The contribution of one rank to a collective.
struct Given {
  const char *source = nullptr;
  uint64_t sourceBytes = 0;
  char *destination = nullptr;
  uint64_t place = 0, destinationBytes = 0; ///< of the destination, on the device
};

/// Ranks communicate through a folder, so they may be separate processes. Each rank writes files
/// there and waits for the files of the others.
class Folder {
public:
  Folder(const NcclId &id, int ranks, int rank) : path(id.bytes), ranks(ranks), rank(rank) {}

  void put(const std::string &what, std::string_view bytes) const {
    const fs::path name = of(what, rank), draft = name.string() + ".new";
    std::ofstream(draft, std::ios::binary) << bytes;
    std::error_code ignored; // the folder of a group that has ended
    fs::rename(draft, name, ignored);
  }
  bool all(const std::string &what) const {
    for (int each = 0; each < ranks; ++each)
      if (!fs::exists(of(what, each)))
        return false;
    return true;
  }
  std::string get(const std::string &what, int from) const {
    std::ifstream file(of(what, from), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// The last rank removes the folder.
  void leave() const {
    std::error_code ignored;
    put("left", "");
    if (all("left"))
      fs::remove_all(path, ignored);
  }

  std::string collective(uint64_t number) const {
    return "NCCL kernel of collective " + std::to_string(number) + " of rank " +
           std::to_string(rank);
  }

  const fs::path path;
  const int ranks, rank;
  bool aborted = false, finalized = false;

private:
  fs::path of(const std::string &what, int from) const {
    return path / (what + "." + std::to_string(from));
  }
};

/// The ranks of this process that have a communicator.
std::set<Folder *> &members() {
  static std::set<Folder *> all;
  return all;
}

/// A rank that aborts waits until the others of its process abort, too (NCCL issue 863).
void awaitOthers(const Folder &own) {
  Engine &engine = Engine::get();
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    {
      std::lock_guard<std::recursive_mutex> lock(engine.mutex);
      const auto behind = std::ranges::find_if(
          members(), [&](const Folder *each) { return each->path == own.path && !each->aborted; });
      if (behind == members().end())
        return;
      if (std::chrono::steady_clock::now() - begin >
          std::chrono::duration<double>(engine.settings.hangSeconds))
        return engine.problem("ncclCommAbort of rank " + std::to_string(own.rank) +
                              " would hang: rank " + std::to_string((*behind)->rank) +
                              " of this process has not aborted");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

} // namespace

namespace zero::rt::cuda {
struct NcclHandleTag {
  std::shared_ptr<Folder> folder;
  uint64_t resets;   ///< of the engine before it was made
  uint64_t next = 0; ///< the number of the next collective
  std::set<void *> registered;
};
} // namespace zero::rt::cuda

/// What ncclMemAlloc has allocated, and in how many communicators it is registered.
static std::map<void *, std::pair<size_t, int>> &allocated() {
  static std::map<void *, std::pair<size_t, int>> all;
  return all;
}

EXPORT NcclResult ncclMemAlloc(void **memory, size_t bytes) {
  LOCKED;
  if (!current() || bytes > size_t(1) << 30)
    return kUnhandledCudaError;
  *memory = reinterpret_cast<void *>(engine.allocate(true, bytes));
  allocated()[*memory] = {bytes, 0};
  ++engine.counted.allocationsOfNccl;
  return kNcclSuccess;
}
EXPORT NcclResult ncclMemFree(void *memory) {
  Engine::get().awaitKernels("ncclMemFree");
  LOCKED;
  const auto found = allocated().find(memory);
  if (found == allocated().end() || found->second.second > 0)
    engine.problem("ncclMemFree of memory that is registered, or not there");
  if (found != allocated().end())
    allocated().erase(found);
  return engine.release(true, reinterpret_cast<uint64_t>(memory), "ncclMemFree") == kSuccess
             ? kNcclSuccess
             : kUnhandledCudaError;
}

EXPORT NcclResult ncclCommRegister(NcclHandle handle, void *memory, size_t bytes,
                                   void **registered) {
  LOCKED;
  const auto found = allocated().find(memory);
  if (found == allocated().end() || bytes > found->second.first || handle->next > 0 ||
      !handle->folder->all("joined") || !handle->registered.insert(memory).second) {
    engine.problem("ncclCommRegister as it must not be called");
    return kNcclInternalError;
  }
  ++found->second.second;
  ++engine.counted.registrations;
  *registered = memory;
  return kNcclSuccess;
}
EXPORT NcclResult ncclCommDeregister(NcclHandle handle, void *registered) {
  LOCKED;
  if (handle->folder->finalized || handle->registered.erase(registered) == 0)
    engine.problem("ncclCommDeregister as it must not be called");
  else
    --allocated().at(registered).second;
  return kNcclSuccess;
}

EXPORT NcclResult ncclGetVersion(int *version) {
  *version = 22809;
  return kNcclSuccess;
}
EXPORT NcclResult ncclGetUniqueId(NcclId *id) {
  std::string path = (fs::temp_directory_path() / "zero-recording-XXXXXX").string();
  if (!::mkdtemp(path.data()) || path.size() >= sizeof(id->bytes))
    return kNcclInternalError;
  *id = {};
  std::memcpy(id->bytes, path.data(), path.size());
  return kNcclSuccess;
}
EXPORT const char *ncclGetErrorString(NcclResult) { return "as the recording library says"; }
EXPORT const char *ncclGetLastError(NcclHandle) { return ""; }

EXPORT NcclResult ncclCommInitRankConfig(NcclHandle *handle, int ranks, NcclId id, int rank,
                                         NcclConfig *config) {
  LOCKED;
  if (config->magic != 0xcafebeef || config->blocking != 0 || !current())
    engine.problem("ncclCommInitRankConfig as it must not be called");
  *handle = new NcclHandleTag{std::make_shared<Folder>(id, ranks, rank), engine.resets};
  (*handle)->folder->put("joined", std::to_string(current()->device));
  members().insert((*handle)->folder.get());
  ++engine.counted.alive;
  return kNcclInProgress;
}

EXPORT NcclResult ncclCommFinalize(NcclHandle handle) {
  LOCKED;
  handle->folder->finalized = true;
  return kNcclInProgress;
}
static NcclResult destroy(NcclHandle handle) {
  Engine &engine = Engine::get();
  std::unique_lock<std::recursive_mutex> lock(engine.mutex);
  while (engine.hasGraphOf(handle->folder.get())) { // as NCCL does
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
  for (void *each : handle->registered) { // an abort forgets them
    --allocated().at(each).second;
    if (!handle->folder->aborted)
      engine.problem("ncclCommDestroy with registered memory");
  }
  members().erase(handle->folder.get());
  handle->folder->leave();
  if (handle->resets == engine.resets)
    --engine.counted.alive;
  delete handle;
  return kNcclSuccess;
}
EXPORT NcclResult ncclCommDestroy(NcclHandle handle) {
  Engine::get().awaitKernels("ncclCommDestroy", handle->folder.get());
  return destroy(handle);
}
EXPORT NcclResult ncclCommAbort(NcclHandle handle) {
  {
    LOCKED;
    handle->folder->aborted = true; // its work in progress ends
  }
  awaitOthers(*handle->folder);
  return destroy(handle);
}

EXPORT NcclResult ncclCommGetAsyncError(NcclHandle handle, NcclResult *error) {
  LOCKED;
  const Folder &folder = *handle->folder;
  *error = folder.all("joined") ? kNcclSuccess : kNcclInProgress;
  if (folder.finalized) { // after its work
    engine.progress();
    *error = engine.unfinished(&folder) ? kNcclInProgress : *error;
  }
  std::set<std::string> devices;
  for (int rank = 0; *error == kNcclSuccess && rank < folder.ranks; ++rank)
    if (!devices.insert(folder.get("joined", rank)).second)
      *error = kNcclInvalidUsage; // as NCCL does for ranks that share a GPU
  return kNcclSuccess;
}

/// The next collective of `handle`. When a stream reaches it, the rank publishes its part. Once all
/// ranks have done so, body(sources by rank, own destination) runs.
template <typename Body>
static Work makeCollective(NcclHandle handle, Given part, Body body, bool isCaptured) {
  auto folder = handle->folder;
  const uint64_t number = handle->next++;
  // Ranks must agree on whether it is captured, else they wait for ever.
  const std::string name = (isCaptured ? "captured-" : "collective-") + std::to_string(number);
  auto ready = [folder, name, part, given = false]() mutable {
    if (folder->aborted) // and publishes nothing, for which the others would wait
      return true;
    if (!given)
      folder->put(name, {part.source, part.sourceBytes});
    given = true;
    return folder->all(name);
  };
  auto run = [folder, name, part, body] {
    if (folder->aborted)
      return;
    std::vector<std::string> sources;
    for (int rank = 0; rank < folder->ranks; ++rank)
      sources.push_back(folder->get(name, rank));
    body(sources, part.destination);
    Engine::get().wrote(part.place, part.destinationBytes);
  };
  Work work{ready, run, {}};
  work.kernel =
      std::make_shared<const LongKernel>(LongKernel{folder.get(), folder->collective(number)});
  return work;
}

/// Adds a collective to `stream`. One of a graph is another collective each time that this is
/// launched.
template <typename Body>
static NcclResult issue(NcclHandle handle, Given part, Stream stream, Body body) {
  LOCKED;
  Work work;
  work.kernel = std::make_shared<const LongKernel>(
      LongKernel{handle->folder.get(), "NCCL kernel of a graph"});
  const bool isCaptured = engine.captureOf(stream) != nullptr;
  if (isCaptured && handle->next == 0)
    engine.problem("the first collective of a communicator, which connects, is captured");
  work.renew = [handle, part, body, isCaptured] {
    return makeCollective(handle, part, body, isCaptured);
  };
  return engine.start(stream, std::move(work)) == kSuccess ? kNcclSuccess : kUnhandledCudaError;
}

static Given translated(const void *source, uint64_t sourceBytes, void *destination,
                        uint64_t destinationBytes) {
  LOCKED;
  auto place = [](const void *pointer) { return reinterpret_cast<uint64_t>(pointer); };
  return {engine.translate(place(source), sourceBytes, "NCCL"), sourceBytes,
          engine.translate(place(destination), destinationBytes, "NCCL"), place(destination),
          destinationBytes};
}

static DType dtypeOf(int type) {
  switch (type) {
  case kNcclFloat32:
    return ZERO_RT_F32;
  case kNcclFloat64:
    return ZERO_RT_F64;
  case kNcclFloat16:
    return ZERO_RT_F16;
  case kNcclBfloat16:
    return ZERO_RT_BF16;
  case kNcclInt32:
    return ZERO_RT_I32;
  default:
    return ZERO_RT_I64;
  }
}

EXPORT NcclResult ncclAllGather(const void *source, void *destination, size_t count, int type,
                                NcclHandle handle, Stream stream) {
  if (type != kNcclUint8)
    return kNcclInternalError;
  const size_t ranks = size_t(handle->folder->ranks);
  return issue(handle, translated(source, count, destination, count * ranks), stream,
               [count](const std::vector<std::string> &sources, char *to) {
                 for (size_t from = 0; from < sources.size(); ++from)
                   std::memcpy(to + from * count, sources[from].data(), count);
               });
}

EXPORT NcclResult ncclBroadcast(const void *source, void *destination, size_t count, int type,
                                int root, NcclHandle handle, Stream stream) {
  if (type != kNcclUint8 || root < 0 || root >= handle->folder->ranks)
    return kNcclInternalError;
  return issue(handle, translated(source, count, destination, count), stream,
               [count, root](const std::vector<std::string> &sources, char *to) {
                 std::memcpy(to, sources[size_t(root)].data(), count);
               });
}

/// Writes to `sum` the sums, or means, over all ranks of `count` elements that begin at element
/// `start`.
static void addUp(const std::vector<std::string> &parts, DType dtype, int operation, size_t start,
                  size_t count, char *sum) {
  std::vector<const void *> sources;
  for (const std::string &part : parts)
    sources.push_back(part.data() + start * sizeOf(dtype));
  if (operation == kNcclMean) // NCCL divides first: the sum has no type of its own
    sumInOrder({dtype, true, ZERO_RT_F32}, sources, sum, count, int(parts.size()));
  else
    sumInOrder({dtype}, sources, sum, count, 1);
}

static bool isKnown(int operation) { return operation == kNcclSum || operation == kNcclMean; }

EXPORT NcclResult ncclReduceScatter(const void *source, void *destination, size_t count, int type,
                                    int operation, NcclHandle handle, Stream stream) {
  if (!isKnown(operation))
    return kNcclInternalError;
  const DType dtype = dtypeOf(type);
  const Folder &folder = *handle->folder;
  const size_t own = count * sizeOf(dtype), whole = own * size_t(folder.ranks);
  return issue(handle, translated(source, whole, destination, own), stream,
               [dtype, operation, count, start = size_t(folder.rank) * count](
                   const std::vector<std::string> &sources, char *to) {
                 addUp(sources, dtype, operation, start, count, to);
               });
}

EXPORT NcclResult ncclAllReduce(const void *source, void *destination, size_t count, int type,
                                int operation, NcclHandle handle, Stream stream) {
  if (!isKnown(operation))
    return kNcclInternalError;
  const DType dtype = dtypeOf(type);
  const size_t bytes = count * sizeOf(dtype);
  return issue(handle, translated(source, bytes, destination, bytes), stream,
               [dtype, operation, count](const std::vector<std::string> &sources, char *to) {
                 addUp(sources, dtype, operation, 0, count, to);
               });
}
