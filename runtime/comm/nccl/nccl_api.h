//===- nccl_api.h - the used part of NCCL -----------------------*- C++ -*-===//
//
// From NVIDIA's documentation, as in device/cuda/driver_api.h.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_COMM_NCCL_NCCL_API_H
#define RUNTIME_COMM_NCCL_NCCL_API_H

#include "runtime/device/cuda/driver_api.h"

namespace zero::rt::cuda {

using NcclResult = int; ///< 0: success
using NcclHandle = struct NcclHandleTag *;

struct NcclId {
  char bytes[128];
};

/// ncclConfig_t of NCCL 2.28, which versions after it accept; versions before it are
/// refused. The fields behind `blocking` keep their defaults.
struct NcclConfig {
  static constexpr int kUnset = INT32_MIN;

  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 22800;
  int blocking = 0;
  int clusterSize = kUnset, minBlocks = kUnset, maxBlocks = kUnset;
  const char *network = nullptr;
  int splitShare = kUnset, trafficClass = kUnset;
  const char *name = nullptr;
  int collnet = kUnset, policy = kUnset, shrinkShare = kUnset, nvlsBlocks = kUnset;
  int channelsPerPeer = kUnset, nvlinkCentric = kUnset;
};

enum : NcclResult {
  kNcclSuccess = 0,
  kNcclInternalError = 3,
  kNcclInvalidUsage = 5,
  kNcclInProgress = 7
};

enum : int {
  kNcclSum = 0,   ///< ncclRedOp_t
  kNcclMean = 4,  ///< ncclAvg: contributions are divided before they are added
  kNcclUint8 = 1, ///< ncclDataType_t
  kNcclInt32 = 2,
  kNcclInt64 = 4,
  kNcclFloat16 = 6,
  kNcclFloat32 = 7,
  kNcclFloat64 = 8,
  kNcclBfloat16 = 9,
};

/// X(result, name, parameters): the functions of NCCL's table.
#define ZERO_RT_NCCL(X)                                                                            \
  X(NcclResult, ncclGetVersion, (int *version))                                                    \
  X(NcclResult, ncclGetUniqueId, (NcclId * id))                                                    \
  X(const char *, ncclGetErrorString, (NcclResult result))                                         \
  X(const char *, ncclGetLastError, (NcclHandle handle))                                           \
  X(NcclResult, ncclCommInitRankConfig,                                                            \
    (NcclHandle * handle, int ranks, NcclId id, int rank, NcclConfig *config))                     \
  X(NcclResult, ncclCommFinalize, (NcclHandle handle))                                             \
  X(NcclResult, ncclCommDestroy, (NcclHandle handle))                                              \
  X(NcclResult, ncclCommAbort, (NcclHandle handle))                                                \
  X(NcclResult, ncclCommGetAsyncError, (NcclHandle handle, NcclResult * error))                    \
  X(NcclResult, ncclAllGather,                                                                     \
    (const void *source, void *destination, size_t count, int type, NcclHandle handle,             \
     Stream stream))                                                                               \
  X(NcclResult, ncclReduceScatter,                                                                 \
    (const void *source, void *destination, size_t count, int type, int operation,                 \
     NcclHandle handle, Stream stream))                                                            \
  X(NcclResult, ncclAllReduce,                                                                     \
    (const void *source, void *destination, size_t count, int type, int operation,                 \
     NcclHandle handle, Stream stream))                                                            \
  X(NcclResult, ncclBroadcast,                                                                     \
    (const void *source, void *destination, size_t count, int type, int root, NcclHandle handle,   \
     Stream stream))

/// Those of version 2.19.
#define ZERO_RT_NCCL_MEMORY(X)                                                                     \
  X(NcclResult, ncclMemAlloc, (void **memory, size_t bytes))                                       \
  X(NcclResult, ncclMemFree, (void *memory))                                                       \
  X(NcclResult, ncclCommRegister,                                                                  \
    (NcclHandle handle, void *memory, size_t bytes, void **registered))                            \
  X(NcclResult, ncclCommDeregister, (NcclHandle handle, void *registered))

} // namespace zero::rt::cuda

#endif // RUNTIME_COMM_NCCL_NCCL_API_H
