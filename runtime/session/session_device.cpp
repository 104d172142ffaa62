//===- session_device.cpp - devices of a session's ranks ------------------===//

#include "runtime/session/session_device.h"

#include "runtime/comm/host/host_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/format/collectives.h"
#include "runtime/session/process_group.h"
#include "runtime/session/session_gpus.h"

#include <cstring>

namespace zero::rt {

bool choosesAlgorithms(const zero_rt_session_options &options) {
  return options.gpu_algorithms && std::strcmp(options.gpu_algorithms, "auto") == 0;
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
  if (options.gpu_algorithms && !choosesAlgorithms(options) && !onGpu)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "algorithms of products on GPUs for an executable that is compiled for cpu");
  return {};
}

/// Adds the groups of all collectives, and the orders of their slices.
static void addGroups(const proto::Program &program, GroupOptions &options) {
  const Mesh mesh = meshOf(program);
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands()) {
      if (!command.has_collective())
        continue;
      const AxisSet axes = groupAxes(mesh, command.collective());
      options.groups.push_back(axes);
      if (std::vector<int> numbers = sliceNumbers(mesh, command.collective()); !numbers.empty())
        options.slices.emplace(axes, std::move(numbers));
    }
}

Status openDevice(const LoadedProgram &program, const zero_rt_session_options &options,
                  World *world, std::unique_ptr<Device> &device,
                  std::vector<std::unique_ptr<Communicator>> &ends) {
  ZERO_RT_TRY(checkTarget(program.tables(), options));
  GroupOptions group{program.ranks(),
                     options.timeout_seconds,
                     options.stall_rank,
                     options.stall_collective,
                     int(program.tables().ranks_per_node()),
                     program.mesh()};
  for (size_t shape = 0; shape < program.shapes(); ++shape)
    addGroups(program.tablesOf(shape), group);
  if (program.tables().target() == proto::CUDA)
    return openGpus(program, options, world, group, device, ends);
  device = makeCpuDevice(program.module);
  if (world)
    return openProcessGroup(*world, group, ends);
  ends = makeThreadGroup(group);
  return {};
}

} // namespace zero::rt
