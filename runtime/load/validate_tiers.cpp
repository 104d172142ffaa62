//===- validate_tiers.cpp - validate tiers --------------------------------===//

#include "runtime/load/validate_tiers.h"

#include "runtime/format/tables.h"
#include "runtime/format/tiers.h"
#include "runtime/io/disk_queue.h"

#include <array>

namespace zero::rt {

static constexpr uint64_t kMostBytes = uint64_t(1) << 46;

static Status bad(const std::string &label, const std::string &why) {
  return fail(ZERO_RT_BAD_FILE, "command '%s': %s", escape(label).c_str(), why.c_str());
}

static Status checkArenas(const proto::Program &program) {
  std::array<bool, proto::Tier_ARRAYSIZE> seen{};
  for (const proto::Arena &arena : program.arenas()) {
    const auto bytes = static_cast<unsigned long long>(arena.bytes());
    if (!proto::Tier_IsValid(arena.tier()))
      return fail(ZERO_RT_UNSUPPORTED, "an arena of a tier that this runtime does not know");
    if (std::exchange(seen[size_t(arena.tier())], true))
      return fail(ZERO_RT_BAD_FILE, "two arenas of the %s tier", nameOf(arena.tier()));
    if (arena.bytes() > kMostBytes)
      return fail(ZERO_RT_BAD_FILE, "an arena of %llu bytes", bytes);
    if (arena.tier() == proto::NVME && bytes % kDiskAlignment != 0)
      return fail(ZERO_RT_BAD_FILE, "an arena on disk of %llu bytes, no multiple of %llu", bytes,
                  static_cast<unsigned long long>(kDiskAlignment));
  }
  return {};
}

static Status expectOnDevice(const char *what, const std::string &label,
                             const proto::Address &address) {
  return address.tier() == proto::DEVICE
             ? Status()
             : fail(ZERO_RT_BAD_FILE, "%s '%s': it resides in the %s tier, not in the device tier",
                    what, escape(label).c_str(), nameOf(address.tier()));
}

static bool isWholeBlocks(const proto::Address &address) {
  return address.offset() % kDiskAlignment == 0 &&
         std::ranges::all_of(address.rank_strides(),
                             [](int64_t stride) { return stride % int64_t(kDiskAlignment) == 0; });
}

/// A transfer to or from the disk.
static Status checkDiskCopy(const proto::Command &command) {
  const proto::Copy &copy = command.copy();
  const bool writes = copy.dst().tier() == proto::NVME;
  const proto::Tier other = (writes ? copy.src() : copy.dst()).tier();
  if (other != proto::HOST)
    return bad(command.label(), std::string("expected a copy between the nvme tier and the host "
                                            "tier, got one with the ") +
                                    nameOf(other) + " tier");
  const proto::Lane lane = writes ? proto::NVME_WRITE : proto::NVME_READ;
  if (command.lane() != lane)
    return bad(command.label(), std::string("expected a transfer on lane ") + nameOf(lane) +
                                    ", got lane " + nameOf(command.lane()));
  if (!isWholeBlocks(copy.src()) || !isWholeBlocks(copy.dst()))
    return bad(command.label(),
               format("a transfer of the disk does not start at a multiple of %llu",
                      static_cast<unsigned long long>(kDiskAlignment)));
  return {};
}

/// The lane of a copy that does not access the disk, where lanes differ in what they reach.
static proto::Lane laneOf(proto::Tier from, proto::Tier to, proto::Lane ofDevice) {
  if (from == to)
    return from == proto::HOST ? proto::HOST_COMPUTE : ofDevice;
  return from == proto::HOST ? proto::H2D : proto::D2H;
}

static Status checkCopy(const proto::Program &program, const proto::Command &command) {
  const proto::Copy &copy = command.copy();
  if (copy.src().tier() == proto::NVME || copy.dst().tier() == proto::NVME)
    return checkDiskCopy(command);
  if (command.lane() == proto::NVME_READ || command.lane() == proto::NVME_WRITE)
    return bad(command.label(), "a lane of the disk with a copy that does not access it");
  const proto::Lane ofDevice = isHostLane(command.lane()) ? proto::COMPUTE : command.lane();
  const proto::Lane lane = laneOf(copy.src().tier(), copy.dst().tier(), ofDevice);
  if (program.target() != proto::CPU && command.lane() != lane)
    return bad(command.label(), std::string("expected a copy from the ") +
                                    nameOf(copy.src().tier()) + " tier to the " +
                                    nameOf(copy.dst().tier()) + " tier on lane " + nameOf(lane) +
                                    ", got lane " + nameOf(command.lane()));
  return {};
}

/// Beside a GPU, a kernel of lane HOST_COMPUTE is code for the CPU with operands in the host's
/// memory, and any other is not.
static Status checkGpuLaunch(const proto::Program &program, const proto::Command &command) {
  const proto::Launch &launch = command.launch();
  const bool onHost = command.lane() == proto::HOST_COMPUTE;
  if (launch.kernel() < uint32_t(program.kernels_size()) &&
      program.kernels(int(launch.kernel())).has_symbol() != onHost)
    return bad(command.label(),
               onHost ? "expected code for the CPU on lane HOST_COMPUTE, got a kernel "
                        "of the GPU"
                      : std::string("code for the CPU on lane ") + nameOf(command.lane()) +
                            ", expected HOST_COMPUTE");
  const proto::Tier tier = onHost ? proto::HOST : proto::DEVICE;
  for (const proto::Address &argument : launch.args())
    if (argument.tier() != tier)
      return bad(command.label(), std::string("expected operands in the ") + nameOf(tier) +
                                      " tier, got one in the " + nameOf(argument.tier()) + " tier");
  return {};
}

static Status checkLaunch(const proto::Program &program, const proto::Command &command) {
  if (command.lane() != proto::COMPUTE && command.lane() != proto::HOST_COMPUTE)
    return bad(command.label(), std::string("a kernel on lane ") + nameOf(command.lane()));
  for (const proto::Address &argument : command.launch().args())
    if (argument.tier() == proto::NVME)
      return bad(command.label(), "a kernel cannot access the nvme tier");
  return program.target() == proto::CPU ? Status() : checkGpuLaunch(program, command);
}

static Status checkCommand(const proto::Program &program, const proto::Command &command) {
  if (command.has_copy())
    return checkCopy(program, command);
  if (command.has_launch())
    return checkLaunch(program, command);
  if (command.lane() != proto::COMPUTE && command.lane() != proto::COLLECTIVE)
    return bad(command.label(), std::string("expected lane COMPUTE or COLLECTIVE, got lane ") +
                                    nameOf(command.lane()));
  if (command.has_check())
    return expectOnDevice("command", command.label(), command.check().value());
  ZERO_RT_TRY(expectOnDevice("command", command.label(), command.collective().src()));
  return expectOnDevice("command", command.label(), command.collective().dst());
}

Status validateTiers(const proto::Program &program) {
  ZERO_RT_TRY(checkArenas(program));
  for (const proto::Address &predicate : program.predicates())
    ZERO_RT_TRY(expectOnDevice("predicate", "", predicate));
  for (const proto::Gradient &gradient : program.gradients())
    ZERO_RT_TRY(expectOnDevice("scale of gradient", gradient.parameter(), gradient.scale()));
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      ZERO_RT_TRY(checkCommand(program, command));
  return {};
}

} // namespace zero::rt
