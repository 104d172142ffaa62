//===- recording_nccl.cpp - the symbols of NCCL ---------------------------===//

#include "engine.h"
#include "runtime/comm/nccl/nccl_api.h"
#include "runtime/comm/reduce.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace recording;
using namespace zero::rt;

#define EXPORT extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                     \
  Engine &engine = Engine::get();                                                                  \
  std::lock_guard<std::recursive_mutex> lock(engine.mutex)

namespace {

namespace fs = std::filesystem;

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

  const fs::path path;
  const int ranks, rank;
  bool aborted = false;

private:
  fs::path of(const std::string &what, int from) const {
    return path / (what + "." + std::to_string(from));
  }
};

} // namespace

namespace zero::rt::cuda {
struct NcclHandleTag {
  std::shared_ptr<Folder> folder;
  uint64_t next = 0; ///< the number of the next collective
};
} // namespace zero::rt::cuda

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
  *handle = new NcclHandleTag{std::make_shared<Folder>(id, ranks, rank)};
  (*handle)->folder->put("joined", std::to_string(current()->device));
  ++engine.counted.alive;
  return kNcclInProgress;
}

EXPORT NcclResult ncclCommFinalize(NcclHandle) { return kNcclInProgress; }
static NcclResult destroy(NcclHandle handle, bool aborts) {
  LOCKED;
  if (aborts) // work in progress ends
    handle->folder->aborted = true;
  handle->folder->leave();
  delete handle;
  --engine.counted.alive;
  return kNcclSuccess;
}
EXPORT NcclResult ncclCommDestroy(NcclHandle handle) { return destroy(handle, false); }
EXPORT NcclResult ncclCommAbort(NcclHandle handle) { return destroy(handle, true); }

EXPORT NcclResult ncclCommGetAsyncError(NcclHandle handle, NcclResult *error) {
  LOCKED;
  const Folder &folder = *handle->folder;
  *error = folder.all("joined") ? kNcclSuccess : kNcclInProgress;
  std::set<std::string> devices;
  for (int rank = 0; *error == kNcclSuccess && rank < folder.ranks; ++rank)
    if (!devices.insert(folder.get("joined", rank)).second)
      *error = kNcclInvalidUsage; // as NCCL does for ranks that share a GPU
  return kNcclSuccess;
}

/// Adds a collective to `stream`. When the stream reaches it, the rank publishes its part. Once all
/// ranks have done so, body(sources by rank, own destination) runs.
template <typename Body>
static NcclResult issue(NcclHandle handle, Given part, Stream stream, Body body) {
  LOCKED;
  auto folder = handle->folder;
  const std::string name = "collective-" + std::to_string(handle->next++);
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
  engine.add(stream, {ready, run, {}});
  return kNcclSuccess;
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
