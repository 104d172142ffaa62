//===- session_device.cpp - what a session's ranks run on -----------------===//

#include "runtime/core/session_device.h"

#include "runtime/comm/device/device_group.h"
#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/comm/threads/threads.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/cuda/cuda_device.h"

#include <charconv>
#include <cstring>

namespace zero::rt {

/// "0,1": ordinals of GPUs.
static Status parseGpus(const char *text, std::vector<int> &gpus) {
  if (!text)
    return {};
  const char *at = text, *end = text + std::strlen(text);
  for (;;) {
    int gpu = 0;
    auto [next, error] = std::from_chars(at, end, gpu);
    if (error != std::errc() || gpu < 0 || (next != end && *next != ','))
      return fail(ZERO_RT_INVALID_ARGUMENT, "expected numbers of GPUs such as '0,1', got '%s'",
                  escape(text).c_str());
    gpus.push_back(gpu);
    if (next == end)
      return {};
    at = next + 1;
  }
}

static Status checkTarget(const proto::Program &program, const zero_rt_session_options &options) {
  const bool onGpu = program.target() == proto::CUDA;
  const char *target = deviceOf(program);
  if (options.device && std::strcmp(options.device, "cpu") && std::strcmp(options.device, "cuda"))
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected device 'cpu' or 'cuda', got '%s'",
                escape(options.device).c_str());
  if (options.device && std::strcmp(options.device, target))
    return fail(ZERO_RT_UNSUPPORTED,
                "the executable is compiled for %s, not for %s: compile the model with "
                "--device=%s",
                target, options.device, options.device);
  if (options.gpus && !onGpu)
    return fail(ZERO_RT_INVALID_ARGUMENT, "GPUs for an executable that is compiled for cpu");
  return {};
}

static Status openGpus(const LoadedProgram &program, const zero_rt_session_options &options,
                       const ThreadGroupOptions &group, std::unique_ptr<Device> &device,
                       std::vector<std::unique_ptr<Communicator>> &ends) {
  std::vector<int> gpus;
  ZERO_RT_TRY(parseGpus(options.gpus, gpus));
  std::unique_ptr<cuda::CudaDevice> made;
  ZERO_RT_TRY(cuda::CudaDevice::create(program.tables(), program.executable.code, gpus,
                                       options.timeout_seconds, made));
  ZERO_RT_TRY(made->isShared() ? cuda::makeDeviceGroup(group, made->lanes(), ends)
                               : cuda::makeNcclGroup(group, made->lanes(), ends));
  device = std::move(made);
  return {};
}

Status openDevice(const LoadedProgram &program, const zero_rt_session_options &options,
                  std::unique_ptr<Device> &device,
                  std::vector<std::unique_ptr<Communicator>> &ends) {
  ZERO_RT_TRY(checkTarget(program.tables(), options));
  const ThreadGroupOptions group{program.ranks(), options.timeout_seconds, options.stall_rank,
                                 options.stall_collective};
  if (program.tables().target() == proto::CUDA)
    return openGpus(program, options, group, device, ends);
  device = makeCpuDevice(program.module);
  ends = makeThreadGroup(group);
  return {};
}

} // namespace zero::rt
