//===- group_member.cpp - a rank among those of its node ------------------===//

#include "runtime/comm/host/group_member.h"

namespace zero::rt {

Status GroupMember::begin(const Call &call, Kind kind, const void *source, void *destination,
                          uint64_t elements) {
  if (begun++ == stallAt)
    return group->sleepUntilAborted();
  Offer &mine = group->offer(place(), begun);
  mine = {source, destination, call.index, elements, kind};
  mine.setLabel(call.label);
  ZERO_RT_TRY(arrive(call));
  for (int peer = 0; peer < group->size(); ++peer) {
    const Offer &theirs = offered(peer);
    if (theirs.matches(mine))
      continue;
    Status status =
        fail(ZERO_RT_INTERNAL,
             "ranks disagree: rank %d is at collective %llu ('%s', %llu elements), "
             "rank %d at %llu ('%s', %llu elements)",
             self, static_cast<unsigned long long>(mine.index), escape(mine.label).c_str(),
             static_cast<unsigned long long>(mine.elements), group->rankAt(peer),
             static_cast<unsigned long long>(theirs.index), escape(theirs.label).c_str(),
             static_cast<unsigned long long>(theirs.elements));
    group->abort(status);
    return status;
  }
  return {};
}

std::string GroupMember::lastBegun() const {
  if (begun == 0)
    return {};
  const Offer &mine = group->offer(place(), begun);
  return format("collective %llu ('%s')", static_cast<unsigned long long>(mine.index),
                escape(mine.label).c_str());
}

void GroupMember::count(const Call &call, DType dtype, uint64_t elements) {
  (call.control ? received.controlElements : received.modelElements) += elements;
  (call.control ? received.controlBytes : received.modelBytes) += elements * sizeOf(dtype);
}

Status GroupMember::checkReduction(const Reduction &how) {
  if (canSum(how))
    return {};
  if (how.arithmeticType() == how.dtype)
    return fail(ZERO_RT_UNSUPPORTED, "a sum over ranks of %s", nameOf(how.dtype));
  return fail(ZERO_RT_UNSUPPORTED, "a sum over ranks of %s in %s", nameOf(how.dtype),
              nameOf(how.arithmetic));
}

} // namespace zero::rt
