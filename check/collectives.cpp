//===- collectives.cpp - symbolic execution of collectives ----------------===//

#include "check/machine.h"
#include "check/refusal.h"

namespace zero::check {

void Machine::collective(const proto::Collective &collective) {
  for (const Group &group : groupsOf(executable, collective))
    exchange(collective, group.members, group.slices);
}

/// Sources are read on all members before a destination is written.
void Machine::exchange(const proto::Collective &collective, const std::vector<int> &members,
                       const std::vector<int> &slices) {
  using proto::Collective;
  const int64_t count = int64_t(members.size()), width = int64_t(bytesOf(collective.dtype()));
  const int64_t slice = int64_t(collective.elements()) * width;
  const bool gathers = collective.kind() == Collective::ALL_GATHER;
  const bool scatters = collective.kind() == Collective::REDUCE_SCATTER;
  require(collective.kind() != Collective::BROADCAST || collective.root() < members.size(),
          [&] { return describe(current) + ": the root is no member"; });
  std::vector<Slices> sources;
  std::vector<Place> destinations;
  for (size_t i = 0; i < members.size(); ++i) {
    const Place from =
        placeOf(collective.src(), uint64_t(slice * (scatters ? count : 1)), members[i]);
    Place to = placeOf(collective.dst(), uint64_t(slice * (gathers ? count : 1)), members[i]);
    // The place of the rank's own slice is the only one in which source and destination may meet.
    const int64_t inner = (gathers ? from.begin - to.begin : to.begin - from.begin);
    const bool isOwn = inner == (gathers || scatters ? slices[i] * slice : 0);
    require(isOwn || from.tier != to.tier || from.begin + from.size <= to.begin ||
                to.begin + to.size <= from.begin,
            [&] { return where(members[i]) + ": source and destination overlap"; });
    sources.push_back(arena(members[i], from.tier).read(from.begin, from.size));
    destinations.push_back(to);
  }
  Slices whole;
  if (gathers) {
    std::vector<Slices> inOrder(members.size());
    for (size_t i = 0; i < members.size(); ++i)
      inOrder[size_t(slices[i])] = std::move(sources[i]);
    for (const Slices &part : inOrder)
      for (const Slice &value : part)
        append(whole, value);
  } else {
    whole = collective.kind() == Collective::BROADCAST ? sources[collective.root()]
                                                       : sumOf(collective, members, sources);
  }
  for (size_t i = 0; i < members.size(); ++i)
    arena(members[i], destinations[i].tier)
        .write(destinations[i].begin, scatters ? sliceOf(whole, slices[i] * slice, slice) : whole,
               current);
}

/// In the order of members; with `ranks_per_node`, those of a node first.
Slice sumOverRanks(Terms &terms, const proto::Program &program, proto::DType dtype,
                   proto::DType arithmetic, bool mean, const std::vector<int> &members,
                   const Slices &parts) {
  const int64_t width = int64_t(bytesOf(dtype)), count = int64_t(members.size());
  const int perNode = program.ranks_per_node() ? int(program.ranks_per_node()) : INT32_MAX;
  Slices sums, node;
  for (size_t i = 0; i < parts.size(); ++i) {
    node.push_back(parts[i]);
    if (i + 1 < parts.size() && members[i] / perNode == members[i + 1] / perNode)
      continue;
    if (node.size() == parts.size())
      return terms.sum(dtype, arithmetic, mean ? count : 1, width, node);
    sums.push_back(terms.sum(arithmetic, arithmetic, 1, width, node));
    node.clear();
  }
  return terms.sum(dtype, arithmetic, mean ? count : 1, width, sums);
}

Slices Machine::sumOf(const proto::Collective &collective, const std::vector<int> &members,
                      const std::vector<Slices> &sources) {
  const int64_t width = int64_t(bytesOf(collective.dtype()));
  const proto::DType arithmetic =
      collective.arithmetic() ? collective.arithmetic() : collective.dtype();
  Slices sum;
  forEachStretch(sources, std::vector<int64_t>(sources.size(), width),
                 [&](const Slices &parts, int64_t elements) {
                   Slice value;
                   if (std::all_of(parts.begin(), parts.end(),
                                   [](const Slice &part) { return part.term != 0; }))
                     value = sumOverRanks(terms, program, collective.dtype(), arithmetic,
                                          collective.mean(), members, parts);
                   append(sum, {value.term, value.offset, elements * width});
                 });
  return sum;
}

} // namespace zero::check
