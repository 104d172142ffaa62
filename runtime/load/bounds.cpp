//===- bounds.cpp - check addresses ---------------------------------------===//

#include "runtime/load/bounds.h"

#include "runtime/io/disk_queue.h"
#include "runtime/support/checked.h"

namespace zero::rt {

Status badTable(const char *what, const std::string &name, const char *why) {
  return fail(ZERO_RT_BAD_FILE, "%s '%s': %s", what, escape(name).c_str(), why);
}

Status checkAxes(const Mesh &mesh, const char *what, const std::string &name, const AxisList &axes,
                 AxisOrder order) {
  AxisSet seen = 0;
  for (const uint32_t axis : axes) {
    if (axis >= uint32_t(mesh.axes()))
      return badTable(what, name, "an axis that the mesh does not have");
    const AxisSet later = seen >> axis; // this one and those behind it
    if ((later & 1) || (order == AxisOrder::Ascending && later))
      return badTable(what, name, "its axes occur twice, or out of order");
    seen |= AxisSet(1) << axis;
  }
  return {};
}

bool sizeInBytes(proto::DType dtype, uint64_t count, uint64_t &bytes) {
  return proto::DType_IsValid(dtype) && countBytes(count, toDType(dtype), bytes);
}

Bounds::Bounds(const proto::Program &program) : mesh(meshOf(program)) {
  for (size_t tier = 0; tier < arenas.size(); ++tier)
    arenas[tier] = arenaBytes(program, proto::Tier(tier));
}

bool Bounds::fits(proto::Tier tier, uint64_t offset, uint64_t bytes) const {
  return isWithin(offset, bytes, proto::Tier_IsValid(tier) ? arenas[size_t(tier)] : 0);
}

Status Bounds::check(const std::string &label, const proto::Address &address,
                     uint64_t bytes) const {
  const proto::Tier tier = address.tier();
  if (address.rank_strides_size() != 0 && address.rank_strides_size() != mesh.axes())
    return badTable("command", label, "an address has no stride for each axis of the mesh");
  bool isInside = proto::Tier_IsValid(tier) && fits(tier, address.offset(), bytes);
  auto lowest = int64_t(address.offset()), highest = lowest;
  for (int axis = 0; axis < address.rank_strides_size(); ++axis) {
    int64_t last = 0;
    isInside = isInside &&
               checkedMultiply(int64_t(mesh.size(axis) - 1), address.rank_strides(axis), last) &&
               checkedAdd(lowest, std::min<int64_t>(last, 0), lowest) &&
               checkedAdd(highest, std::max<int64_t>(last, 0), highest);
  }
  if (!isInside || lowest < 0 || !fits(tier, uint64_t(highest), bytes))
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
