//===- session_device.cpp - devices of a session's ranks ------------------===//

#include "runtime/session/session_device.h"

#include "runtime/comm/device/device_group.h"
#include "runtime/comm/host/host_group.h"
#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/support/checked.h"
#include "runtime/support/temporary.h"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace zero::rt {

/// "0,1": ordinals of GPUs.
static Status parseGpus(const char *text, std::vector<int> &gpus) {
  if (!text)
    return {};
  for (std::string_view rest = text;;) {
    const size_t comma = rest.find(',');
    int gpu = 0;
    if (!parseInteger(rest.substr(0, comma), gpu) || gpu < 0)
      return fail(ZERO_RT_INVALID_ARGUMENT, "expected numbers of GPUs such as '0,1', got '%s'",
                  escape(text).c_str());
    gpus.push_back(gpu);
    if (comma == rest.npos)
      return {};
    rest.remove_prefix(comma + 1);
  }
}

static Status checkTarget(const proto::Program &program, const zero_rt_session_options &options) {
  const bool onGpu = program.target() == proto::CUDA;
  const char *target = deviceOf(program);
  if (options.device && std::strcmp(options.device, "cpu") != 0 &&
      std::strcmp(options.device, "cuda") != 0)
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected device 'cpu' or 'cuda', got '%s'",
                escape(options.device).c_str());
  if (options.device && std::strcmp(options.device, target) != 0)
    return fail(ZERO_RT_UNSUPPORTED,
                "the executable is compiled for %s, not for %s: compile the model with "
                "--device=%s",
                target, options.device, options.device);
  if (options.gpus && !onGpu)
    return fail(ZERO_RT_INVALID_ARGUMENT, "GPUs for an executable that is compiled for cpu");
  return {};
}

/// Whether one rank can have this process to itself, where it shall.
static Status checkProcess(const proto::Program &program, const zero_rt_session_options &options) {
  auto bad = [](const char *what) { return Status(ZERO_RT_INVALID_ARGUMENT, what); };
  if (options.rank < 0)
    return options.join ? bad("a file to join by, but no rank of this process") : Status();
  if (options.rank >= int(program.ranks()))
    return fail(ZERO_RT_INVALID_ARGUMENT, "no rank %d among %u", options.rank, program.ranks());
  if (program.target() != proto::CUDA)
    return fail(ZERO_RT_UNSUPPORTED,
                "ranks on CPUs are threads of one process: leave out the rank, or "
                "compile the model with --device=cuda");
  if (!options.join)
    return bad("a rank with a process of its own needs a file to join the others by");
  return options.stall_rank < 0 ? Status()
                                : bad("ranks can be stalled where they are threads of one process");
}

/// The file at `path`, to be deleted.
static Temporary ownFile(const char *path) {
  const int descriptor = ::open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  Temporary file(path, descriptor);
  ::close(descriptor);
  return file;
}

/// The end of the one rank that is here. All others join by the same file.
static Status joinOthers(const GroupOptions &group, const zero_rt_session_options &options,
                         std::shared_ptr<cuda::Lanes> lanes,
                         std::vector<std::unique_ptr<Communicator>> &ends) {
  std::shared_ptr<const cuda::Nccl> nccl;
  cuda::NcclId id;
  ZERO_RT_TRY(cuda::Nccl::open(nccl));
  ZERO_RT_TRY(cuda::shareId(*nccl, options.join, options.rank, group.timeoutSeconds, id));
  Temporary file; // goes when all have read it, or will not come
  if (options.rank == 0)
    file = ownFile(options.join);
  return cuda::joinNcclGroup(nccl, id, options.rank, group.ranks, group.timeoutSeconds,
                             std::move(lanes), ends.emplace_back());
}

static Status openGpus(const LoadedProgram &program, const zero_rt_session_options &options,
                       const GroupOptions &group, std::unique_ptr<Device> &device,
                       std::vector<std::unique_ptr<Communicator>> &ends) {
  std::vector<int> gpus;
  ZERO_RT_TRY(parseGpus(options.gpus, gpus));
  std::unique_ptr<cuda::CudaDevice> made;
  ZERO_RT_TRY(cuda::CudaDevice::create(program.tables(), program.executable.code, gpus,
                                       options.rank, options.timeout_seconds, made));
  const auto &lanes = made->lanes();
  ZERO_RT_TRY(options.rank >= 0  ? joinOthers(group, options, lanes[size_t(options.rank)], ends)
              : made->isShared() ? cuda::makeDeviceGroup(group, lanes, ends)
                                 : cuda::makeNcclGroup(group, lanes, ends));
  device = std::move(made);
  return {};
}

Status openDevice(const LoadedProgram &program, const zero_rt_session_options &options,
                  std::unique_ptr<Device> &device,
                  std::vector<std::unique_ptr<Communicator>> &ends) {
  ZERO_RT_TRY(checkTarget(program.tables(), options));
  ZERO_RT_TRY(checkProcess(program.tables(), options));
  const GroupOptions group{program.ranks(), options.timeout_seconds, options.stall_rank,
                           options.stall_collective, int(program.tables().ranks_per_node())};
  if (program.tables().target() == proto::CUDA)
    return openGpus(program, options, group, device, ends);
  device = makeCpuDevice(program.module);
  ends = makeThreadGroup(group);
  return {};
}

} // namespace zero::rt
