//===- session_gpus.cpp - GPUs of a session's ranks -----------------------===//

#include "runtime/session/session_gpus.h"

#include "runtime/comm/device/device_group.h"
#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/session/session_device.h"
#include "runtime/support/cache_folder.h"
#include "runtime/support/checked.h"

#include <cstring>
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

/// The end of the one rank that is here.
static Status joinOthers(World &world, const GroupOptions &group,
                         std::shared_ptr<cuda::Lanes> lanes,
                         std::vector<std::unique_ptr<Communicator>> &ends) {
  std::shared_ptr<const cuda::Nccl> nccl;
  std::vector<cuda::NcclId> ids;
  Status status = cuda::Nccl::open(nccl);
  if (status.ok() && world.isFirst())
    status = cuda::makeNcclIds(*nccl, group, ids);
  ZERO_RT_TRY(world.agree("NCCL", status));
  std::vector<std::string> all;
  ZERO_RT_TRY(world.control().allGather(
      "ids of NCCL's groups",
      {reinterpret_cast<const char *>(ids.data()), ids.size() * sizeof(cuda::NcclId)}, all));
  ids.resize(all.front().size() / sizeof(cuda::NcclId));
  std::memcpy(ids.data(), all.front().data(), ids.size() * sizeof(cuda::NcclId));
  return cuda::joinNcclGroup(nccl, ids, world.process(), group, std::move(lanes), ends);
}

/// Whether the processes of `world` can run a program for GPUs.
static Status checkGpuProcesses(const World &world, const zero_rt_session_options &options,
                                int ranks) {
  if (world.processes() != ranks)
    return fail(ZERO_RT_UNSUPPORTED,
                "a process for each GPU: expected %d processes for %d ranks, got %d", ranks, ranks,
                world.processes());
  return options.stall_rank < 0
             ? Status()
             : Status(ZERO_RT_INVALID_ARGUMENT,
                      "ranks can be stalled where they are threads of one process");
}

/// The file of algorithms, or a folder with such a file for each GPU; empty: none. By default the
/// folder of caches, where there is one that can be written.
static std::string placeOfAlgorithms(const zero_rt_session_options &options) {
  if (!choosesAlgorithms(options))
    return options.gpu_algorithms ? options.gpu_algorithms : "";
  const std::string folder = cacheFolder();
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? folder : "";
}

/// Lets the products of all ranks run what process 0 finds in its file, or times; without one,
/// what the library expects to be fastest.
static Status shareAlgorithms(const proto::Program &program, const zero_rt_session_options &options,
                              World *world, cuda::CudaDevice &device) {
  const char *const what = "algorithms of products";
  const bool decides = !world || world->isFirst();
  const std::string path = placeOfAlgorithms(options);
  std::string contents;
  Status status;
  if (decides && !path.empty())
    status = device.tuneProducts(program, path, contents);
  if (!world)
    return status;
  ZERO_RT_TRY(world->agree(what, status));
  std::vector<std::string> all;
  ZERO_RT_TRY(world->control().allGather(what, contents, all));
  return decides || all.front().empty()
             ? Status()
             : device.useAlgorithms(program, all.front(), "the file of process 0",
                                    /*onlyChecks=*/false);
}

/// Ranks with a GPU each have memory that NCCL accesses without copies, if it has the functions. A
/// library that is not there is an error of the group.
static void allocateByNccl(cuda::CudaDevice &device) {
  std::shared_ptr<const cuda::Nccl> nccl;
  if (cuda::Nccl::open(nccl).ok() && nccl->hasMemory())
    device.setAllocator(std::move(nccl));
}

Status openGpus(const LoadedProgram &program, const zero_rt_session_options &options, World *world,
                const GroupOptions &group, std::unique_ptr<Device> &device,
                std::vector<std::unique_ptr<Communicator>> &ends) {
  std::vector<int> gpus;
  ZERO_RT_TRY(parseGpus(options.gpus, gpus));
  if (world)
    ZERO_RT_TRY(checkGpuProcesses(*world, options, group.ranks));
  const int only = world ? world->process() : -1;
  std::unique_ptr<cuda::CudaDevice> made;
  ZERO_RT_TRY(cuda::CudaDevice::create(program.tables(), program.executable.code, gpus, only,
                                       options.timeout_seconds, makeCpuDevice(program.module),
                                       made));
  ZERO_RT_TRY(shareAlgorithms(program.tables(), options, world, *made));
  if (world || !made->isShared())
    allocateByNccl(*made);
  const auto &lanes = made->lanes();
  ZERO_RT_TRY(world              ? joinOthers(*world, group, lanes[size_t(only)], ends)
              : made->isShared() ? cuda::makeDeviceGroup(group, lanes, ends)
                                 : cuda::makeNcclGroup(group, lanes, ends));
  device = std::move(made);
  return {};
}

} // namespace zero::rt
