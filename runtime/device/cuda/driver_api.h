//===- driver_api.h - the used part of the CUDA driver ----------*- C++ -*-===//
//
// From NVIDIA's documentation of the driver's interface, so that no toolkit is needed to
// build. A test compares it with cuda.h where that is installed.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_DRIVER_API_H
#define RUNTIME_DEVICE_CUDA_DRIVER_API_H

#include <cstddef>
#include <cstdint>

namespace zero::rt::cuda {

using Result = int; ///< 0: success
using DeviceNumber = int;
using Address = unsigned long long; ///< of device memory
using Context = struct ContextHandle *;
using ModuleHandle = struct ModuleTag *;
using Function = struct FunctionHandle *;
using Stream = struct StreamHandle *;
using Event = struct EventHandle *;
using GraphHandle = struct GraphTag *;
using GraphExec = struct GraphExecTag *; ///< a graph that can be launched
using HostFunction = void (*)(void *context);

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kStubLibrary = 34,
  kNoDevice = 100,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kAssert = 710, ///< the first of several faults of kernels
  kLaunchFailed = 719,
};

enum : int {
  kComputeCapabilityMajor = 75, ///< of cuDeviceGetAttribute
  kComputeCapabilityMinor = 76,
  kMostSharedBytes = 97,      ///< of a block whose function asks for it
  kMaxDynamicSharedBytes = 8, ///< of cuFuncSetAttribute
  kJitErrorLogBuffer = 5,     ///< of cuModuleLoadDataEx
  kJitErrorLogBufferBytes = 6,
};

enum : int {
  kCaptureThreadLocal = 1, ///< of cuStreamBeginCapture: other threads may use the driver freely
};

enum : unsigned {
  kHostAllocPortable = 1, ///< of cuMemHostAlloc: pinned for all contexts
  kStreamNonBlocking = 1, ///< of cuStreamCreateWithPriority: does not wait for the default stream
  kEventDefault = 0,      ///< of cuEventCreate
  kEventDisableTiming = 2,
};

/// X(name, exported name, parameters): the functions of the driver's table.
#define ZERO_RT_CUDA_DRIVER(X)                                                                     \
  X(cuInit, "cuInit", (unsigned flags))                                                            \
  X(cuDriverGetVersion, "cuDriverGetVersion", (int *version))                                      \
  X(cuGetErrorName, "cuGetErrorName", (Result error, const char **text))                           \
  X(cuGetErrorString, "cuGetErrorString", (Result error, const char **text))                       \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int *count))                                            \
  X(cuDeviceGet, "cuDeviceGet", (DeviceNumber * device, int ordinal))                              \
  X(cuDeviceGetName, "cuDeviceGetName", (char *name, int bytes, DeviceNumber device))              \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute",                                                  \
    (int *value, int attribute, DeviceNumber device))                                              \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                                          \
    (Context * context, DeviceNumber device))                                                      \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber device))              \
  X(cuCtxSetCurrent, "cuCtxSetCurrent", (Context context))                                         \
  X(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                                      \
    (ModuleHandle * module, const void *image, unsigned options, int *kinds, void **values))       \
  X(cuModuleUnload, "cuModuleUnload", (ModuleHandle module))                                       \
  X(cuModuleGetFunction, "cuModuleGetFunction",                                                    \
    (Function * function, ModuleHandle module, const char *name))                                  \
  X(cuFuncSetAttribute, "cuFuncSetAttribute", (Function function, int attribute, int value))       \
  X(cuLaunchKernel, "cuLaunchKernel",                                                              \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,           \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **arguments,      \
     void **extra))                                                                                \
  X(cuMemGetInfo, "cuMemGetInfo_v2", (size_t *free, size_t *total))                                \
  X(cuMemAlloc, "cuMemAlloc_v2", (Address * address, size_t bytes))                                \
  X(cuMemFree, "cuMemFree_v2", (Address address))                                                  \
  X(cuMemHostAlloc, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))               \
  X(cuMemFreeHost, "cuMemFreeHost", (void *memory))                                                \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                     \
    (Address destination, const void *source, size_t bytes, Stream stream))                        \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                     \
    (void *destination, Address source, size_t bytes, Stream stream))                              \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                     \
    (Address destination, Address source, size_t bytes, Stream stream))                            \
  X(cuMemsetD8Async, "cuMemsetD8Async",                                                            \
    (Address destination, unsigned char value, size_t bytes, Stream stream))                       \
  X(cuCtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", (int *least, int *greatest))       \
  X(cuStreamCreateWithPriority, "cuStreamCreateWithPriority",                                      \
    (Stream * stream, unsigned flags, int priority))                                               \
  X(cuStreamDestroy, "cuStreamDestroy_v2", (Stream stream))                                        \
  X(cuStreamQuery, "cuStreamQuery", (Stream stream))                                               \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", (Stream stream, Event event, unsigned flags))          \
  X(cuLaunchHostFunc, "cuLaunchHostFunc", (Stream stream, HostFunction function, void *context))   \
  X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (Stream stream, int mode))                    \
  X(cuStreamEndCapture, "cuStreamEndCapture", (Stream stream, GraphHandle * graph))                \
  X(cuGraphInstantiate, "cuGraphInstantiateWithFlags",                                             \
    (GraphExec * executable, GraphHandle graph, unsigned long long flags))                         \
  X(cuGraphLaunch, "cuGraphLaunch", (GraphExec executable, Stream stream))                         \
  X(cuGraphExecDestroy, "cuGraphExecDestroy", (GraphExec executable))                              \
  X(cuGraphDestroy, "cuGraphDestroy", (GraphHandle graph))                                         \
  X(cuEventCreate, "cuEventCreate", (Event * event, unsigned flags))                               \
  X(cuEventDestroy, "cuEventDestroy_v2", (Event event))                                            \
  X(cuEventRecord, "cuEventRecord", (Event event, Stream stream))                                  \
  X(cuEventQuery, "cuEventQuery", (Event event))                                                   \
  X(cuEventElapsedTime, "cuEventElapsedTime", (float *milliseconds, Event begin, Event end))

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_DRIVER_API_H
