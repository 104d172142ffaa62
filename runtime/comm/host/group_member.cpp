//===- group_member.cpp - a rank among those of its node ------------------===//

#include "runtime/comm/host/group_member.h"

namespace zero::rt {

GroupMember::GroupMember(std::shared_ptr<Rendezvous> group, Number number,
                         const GroupOptions &options)
    : group(std::move(group)), self(number.rank), number(number), all(options.meshOfRanks()),
      ranksPerNode(options.ranksPerNode),
      stallAt(number.rank == options.stallRank ? options.stallCollective : -1) {
  for (AxisSet axes : options.groupAxes())
    membersAlong(axes);
  current = &membersAlong(kAllAxes);
}

int sumsOf(const Mesh &mesh, AxisSet axes, int ranksPerNode) {
  const RankGroup first(mesh, axes, 0);
  const auto isElsewhere = [&](int rank) { return ranksPerNode > 0 && rank >= ranksPerNode; };
  return int(std::ranges::find_if(first.ranks(), isElsewhere) - first.ranks().begin());
}

const Members &GroupMember::membersAlong(AxisSet axes) {
  axes = all.proper(axes);
  if (auto found = groups.find(axes); found != groups.end())
    return found->second;
  Members made{axes, RankGroup(all, axes, self), {}, sumsOf(all, axes, ranksPerNode)};
  for (int place = 0; place < group->size(); ++place)
    if (std::ranges::binary_search(made.ranks.ranks(), group->rankAt(place)))
      made.places.push_back(place);
  return groups.emplace(axes, std::move(made)).first->second;
}

Status GroupMember::begin(const Call &call, Kind kind, const void *source, void *destination,
                          uint64_t elements) {
  current = &membersAlong(call.axes);
  numbers = call.slices;
  if (begun++ == stallAt)
    return group->sleepUntilAborted();
  Offer &mine = group->offer(place(), begun);
  mine = {source, destination, call.index, elements, kind, members().axes};
  mine.setLabel(call.label);
  group->announce(place(), begun);
  ZERO_RT_TRY(arrive(call));
  for (int peer : members().places) {
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

void GroupMember::repeat(const Repeated &collectives) {
  begun += int64_t(collectives.count);
  Offer &mine = group->offer(place(), begun);
  mine.index = collectives.last.index;
  mine.setLabel(collectives.last.label);
  group->announce(place(), begun);
  received += collectives.traffic;
  for (const auto &[axes, elements] : collectives.volumes)
    elementsOf[axes] += elements;
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
  if (!call.control && elements > 0)
    elementsOf[members().axes] += elements;
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
