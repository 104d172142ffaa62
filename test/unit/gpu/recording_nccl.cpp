//===- recording_nccl.cpp - the symbols of NCCL ---------------------------===//

#include "engine.h"
#include "runtime/comm/nccl/nccl_api.h"
#include "runtime/comm/reduce.h"

#include <cstring>

using namespace recording;
using namespace zero::rt;

#define EXPORT extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                     \
  Engine &engine = Engine::get();                                                                  \
  std::lock_guard<std::recursive_mutex> lock(engine.mutex)

namespace {

/// What one rank gives to a collective.
struct Given {
  const char *source = nullptr;
  char *destination = nullptr;
};

struct Collective {
  std::map<int, Given> parts; ///< of ranks whose stream has come to it
  bool done = false;
};

struct Group {
  int ranks = 0, joined = 0;
  std::map<uint64_t, Collective> collectives;
};

std::map<std::string, std::shared_ptr<Group>> groups; ///< by id

} // namespace

namespace zero::rt::cuda {
struct NcclHandleTag {
  std::shared_ptr<Group> group;
  int rank;
  uint64_t next = 0; ///< collective
};
} // namespace zero::rt::cuda

EXPORT NcclResult ncclGetVersion(int *version) {
  *version = 22809;
  return kNcclSuccess;
}
EXPORT NcclResult ncclGetUniqueId(NcclId *id) {
  static uint64_t made = 0;
  LOCKED;
  *id = {};
  std::memcpy(id->bytes, &++made, sizeof(made));
  return kNcclSuccess;
}
EXPORT const char *ncclGetErrorString(NcclResult) { return "as the recording library says"; }
EXPORT const char *ncclGetLastError(NcclHandle) { return ""; }

EXPORT NcclResult ncclCommInitRankConfig(NcclHandle *handle, int ranks, NcclId id, int rank,
                                         NcclConfig *config) {
  LOCKED;
  if (config->magic != 0xcafebeef || config->blocking != 0 || !current())
    engine.problem("ncclCommInitRankConfig as it must not be called");
  auto &group = groups[std::string(id.bytes, sizeof(id.bytes))];
  if (!group)
    group = std::make_shared<Group>();
  group->ranks = ranks;
  ++group->joined;
  *handle = new NcclHandleTag{group, rank};
  ++engine.counted.alive;
  return kNcclInProgress;
}

EXPORT NcclResult ncclCommFinalize(NcclHandle) { return kNcclInProgress; }
static NcclResult destroy(NcclHandle handle, bool aborts) {
  LOCKED;
  if (aborts) // what is under way ends
    engine.progress();
  delete handle;
  --engine.counted.alive;
  return kNcclSuccess;
}
EXPORT NcclResult ncclCommDestroy(NcclHandle handle) { return destroy(handle, false); }
EXPORT NcclResult ncclCommAbort(NcclHandle handle) { return destroy(handle, true); }

EXPORT NcclResult ncclCommGetAsyncError(NcclHandle handle, NcclResult *error) {
  LOCKED;
  *error = handle->group->joined == handle->group->ranks ? kNcclSuccess : kNcclInProgress;
  return kNcclSuccess;
}

/// Adds a collective to `stream`; body(parts by rank) happens once all have come to it.
template <typename Body>
static NcclResult issue(NcclHandle handle, Given part, Stream stream, Body body) {
  LOCKED;
  auto group = handle->group;
  const uint64_t index = handle->next++;
  auto ready = [group, index, rank = handle->rank, part] {
    Collective &collective = group->collectives[index];
    collective.parts[rank] = part;
    return int(collective.parts.size()) == group->ranks;
  };
  auto run = [group, index, body] {
    Collective &collective = group->collectives[index];
    if (!collective.done)
      body(collective.parts);
    collective.done = true;
  };
  engine.add(stream, {ready, run, {}});
  return kNcclSuccess;
}

static Given translated(const void *source, uint64_t sourceBytes, void *destination,
                        uint64_t destinationBytes) {
  LOCKED;
  auto place = [](const void *pointer) { return reinterpret_cast<uint64_t>(pointer); };
  return {engine.translate(place(source), sourceBytes, "NCCL"),
          engine.translate(place(destination), destinationBytes, "NCCL")};
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
  const int ranks = handle->group->ranks;
  return issue(handle, translated(source, count, destination, count * size_t(ranks)), stream,
               [count](const std::map<int, Given> &parts) {
                 for (const auto &[to, each] : parts)
                   for (const auto &[from, other] : parts)
                     std::memmove(each.destination + size_t(from) * count, other.source, count);
               });
}

/// Sums of `count` elements from element `start` on of all ranks.
static std::vector<char> sumOf(const std::map<int, Given> &parts, DType dtype, size_t start,
                               size_t count) {
  std::vector<const void *> sources;
  for (const auto &[rank, part] : parts)
    sources.push_back(part.source + start * sizeOf(dtype));
  std::vector<char> sum(count * sizeOf(dtype));
  sumInOrder({dtype}, sources, sum.data(), count, 1);
  return sum;
}

EXPORT NcclResult ncclReduceScatter(const void *source, void *destination, size_t count, int type,
                                    int operation, NcclHandle handle, Stream stream) {
  if (operation != kNcclSum)
    return kNcclInternalError;
  const DType dtype = dtypeOf(type);
  const size_t own = count * sizeOf(dtype), whole = own * size_t(handle->group->ranks);
  return issue(handle, translated(source, whole, destination, own), stream,
               [dtype, count](const std::map<int, Given> &parts) {
                 std::map<int, std::vector<char>> sums;
                 for (const auto &[rank, part] : parts)
                   sums[rank] = sumOf(parts, dtype, size_t(rank) * count, count);
                 for (const auto &[rank, part] : parts)
                   std::memcpy(part.destination, sums[rank].data(), sums[rank].size());
               });
}

EXPORT NcclResult ncclAllReduce(const void *source, void *destination, size_t count, int type,
                                int operation, NcclHandle handle, Stream stream) {
  if (operation != kNcclSum)
    return kNcclInternalError;
  const DType dtype = dtypeOf(type);
  const size_t bytes = count * sizeOf(dtype);
  return issue(handle, translated(source, bytes, destination, bytes), stream,
               [dtype, count](const std::map<int, Given> &parts) {
                 const std::vector<char> sum = sumOf(parts, dtype, 0, count);
                 for (const auto &[rank, part] : parts)
                   std::memcpy(part.destination, sum.data(), sum.size());
               });
}
