//===- bounds.cpp - check addresses ---------------------------------------===//

#include "runtime/load/bounds.h"

#include "runtime/io/disk_queue.h"
#include "runtime/support/checked.h"

namespace zero::rt {

Status badTable(const char *what, const std::string &name, const char *why) {
  return fail(ZERO_RT_BAD_FILE, "%s '%s': %s", what, escape(name).c_str(), why);
}

bool sizeInBytes(proto::DType dtype, uint64_t count, uint64_t &bytes) {
  return proto::DType_IsValid(dtype) && countBytes(count, toDType(dtype), bytes);
}

Bounds::Bounds(const proto::Program &program) : ranks(program.ranks()) {
  for (size_t tier = 0; tier < arenas.size(); ++tier)
    arenas[tier] = arenaBytes(program, proto::Tier(tier));
}

bool Bounds::fits(proto::Tier tier, uint64_t offset, uint64_t bytes) const {
  return isWithin(offset, bytes, proto::Tier_IsValid(tier) ? arenas[size_t(tier)] : 0);
}

Status Bounds::check(const std::string &label, const proto::Address &address,
                     uint64_t bytes) const {
  int64_t shift, last;
  const proto::Tier tier = address.tier();
  if (!proto::Tier_IsValid(tier) || !fits(tier, address.offset(), bytes) ||
      !checkedMultiply(int64_t(ranks - 1), address.rank_stride(), shift) ||
      !checkedAdd(int64_t(address.offset()), shift, last) || last < 0 ||
      !fits(tier, uint64_t(last), bytes))
    return badTable("command", label, "an address lies outside the arena");
  return {};
}

Status Bounds::checkCopied(const std::string &label, const proto::Address &address,
                           uint64_t bytes) const {
  if (address.tier() == proto::NVME && bytes <= arenas[proto::NVME])
    bytes = (bytes + kDiskAlignment - 1) / kDiskAlignment * kDiskAlignment;
  return check(label, address, bytes);
}

} // namespace zero::rt
