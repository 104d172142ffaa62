//===- tiers.h - a rank's memory of all tiers -------------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_TIERS_H
#define RUNTIME_FORMAT_TIERS_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/memory.h"

#include <array>

namespace zero::rt {

/// "device", "host" or "nvme".
inline const char *nameOf(proto::Tier tier) {
  static constexpr const char *kNames[] = {"device", "host", "nvme"};
  return proto::Tier_IsValid(tier) ? kNames[tier] : "unknown";
}

/// Whether lanes beside those of compute and collectives have commands. On CPUs all lanes have
/// threads then, that of collectives, too.
inline bool hasTransfers(const proto::Program &program) {
  for (const proto::Segment &segment : program.segments())
    for (const proto::Command &command : segment.commands())
      if (command.lane() != proto::COMPUTE && command.lane() != proto::COLLECTIVE)
        return true;
  return false;
}

/// A rank's memory of each tier between steps. Owns none of it.
class MemoryByTier {
public:
  /// For a program that has only the device's memory.
  MemoryByTier(Memory &device) { set(proto::DEVICE, device); }

  void set(proto::Tier tier, Memory &memory) { places[size_t(tier)] = &memory; }
  /// That of a tier which the program has.
  Memory &at(proto::Tier tier) const { return *places[size_t(tier)]; }

private:
  std::array<Memory *, proto::Tier_ARRAYSIZE> places{};
};

} // namespace zero::rt

#endif // RUNTIME_FORMAT_TIERS_H
