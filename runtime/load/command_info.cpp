//===- command_info.cpp - descriptions of commands ------------------------===//

#include "runtime/load/command_info.h"

#include "runtime/format/collectives.h"
#include "runtime/format/tables.h"

namespace zero::rt {

static zero_rt_command_kind kindOf(proto::Kernel::BodyCase body) {
  switch (body) {
  case proto::Kernel::kMatmul:
    return ZERO_RT_MATMUL;
  case proto::Kernel::kConvolution:
    return ZERO_RT_CONVOLUTION;
  case proto::Kernel::kAttention:
    return ZERO_RT_ATTENTION;
  default:
    return ZERO_RT_NATIVE;
  }
}

/// Costs of a kernel over a dynamic dimension are those of one element.
static zero_rt_command_info describe(const proto::Program &program, const proto::Launch &launch) {
  const proto::Kernel &kernel = program.kernels(static_cast<int>(launch.kernel()));
  const uint64_t times = launch.length() > 0 ? uint64_t(launch.length()) : 1;
  zero_rt_command_info info{};
  info.kind = kindOf(kernel.body_case());
  info.name = kernel.name().c_str();
  info.flops = times * kernel.flops();
  info.bytes = times * kernel.bytes();
  info.reorders = kernel.matmul().reorder_b();
  info.halves = multipliesHalves(kernel);
  return info;
}

/// The axis along which the groups of `collective` are; null if it is the only one, or not one.
static const char *axisOf(const proto::Program &program, const proto::Collective &collective) {
  return program.mesh_size() > 1 && collective.axes_size() == 1
             ? program.mesh(int(collective.axes(0))).name().c_str()
             : nullptr;
}

static zero_rt_command_info describe(const proto::Program &program,
                                     const proto::Collective &collective) {
  const CollectiveForm &form = *formOf(collective.kind());
  const uint64_t bytes = mostReceivedElements(collective, groupSize(meshOf(program), collective)) *
                         sizeOf(toDType(collective.dtype()));
  return {form.command, form.name, nullptr, 0, bytes, 0, 0, {}, 0, axisOf(program, collective)};
}

static zero_rt_command_info describe(const proto::Copy &copy, zero_rt_lane lane) {
  if (copy.src().tier() == copy.dst().tier())
    return {ZERO_RT_COPY, "copy", nullptr, 0, 2 * copy.bytes(), 0, 0, {}, 0, nullptr};
  return {ZERO_RT_TRANSFER, zero_rt_lane_name(lane), nullptr, 0, copy.bytes(), 0, 0, {}, 0,
          nullptr};
}

static zero_rt_command_info describeBody(const proto::Program &program,
                                         const proto::Command &command) {
  switch (command.body_case()) {
  case proto::Command::kLaunch:
    return describe(program, command.launch());
  case proto::Command::kCollective:
    return describe(program, command.collective());
  case proto::Command::kCopy:
    return describe(command.copy(), zero_rt_lane(command.lane()));
  default:
    return {ZERO_RT_CHECK, "check", nullptr, 0, 0, 0, 0, {}, 0, nullptr};
  }
}

zero_rt_command_info commandInfo(const proto::Program &program, const proto::Command &command) {
  zero_rt_command_info info = describeBody(program, command);
  info.label = command.label().c_str();
  info.recomputed = command.recomputed();
  info.lane = static_cast<zero_rt_lane>(command.lane());
  return info;
}

} // namespace zero::rt
