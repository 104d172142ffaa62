//===- collectives.cpp - symbolic execution of collectives ----------------===//

#include "check/machine.h"

#include <algorithm>

namespace zero::check {

using proto::Collective;

/// Sources are read on all members before a destination is written.
void Machine::collective(const Collective &collective) {
  require(guards.empty(), [&] { return describe(current) + ": a collective that may be skipped"; });
  const std::vector<uint32_t> axes = axesOf(program, collective);
  std::map<int, Group> &exchanging = groups[axes];
  if (exchanging.empty())
    exchanging = groupsOf(executable, axes);
  const int64_t count = int64_t(exchanging[0].size());
  const int64_t slice = int64_t(collective.elements()) * int64_t(bytesOf(collective.dtype()));
  const bool gathers = collective.kind() == Collective::ALL_GATHER;
  const bool scatters = collective.kind() == Collective::REDUCE_SCATTER;
  require(collective.kind() != Collective::BROADCAST || collective.root() < count,
          [&] { return describe(current) + ": the root is no member"; });
  const Place from = placeOf(collective.src(), uint64_t(slice * (scatters ? count : 1)));
  const Place to = placeOf(collective.dst(), uint64_t(slice * (gathers ? count : 1)));
  const Value source = read(from);
  const bool sums = scatters || collective.kind() == Collective::ALL_REDUCE;
  const bool isAlike = exchanging.size() == 1 || (sums && source.isAlike());
  std::vector<Slices> left(isAlike && !scatters ? 1 : size_t(executable.ranks()));
  Slices whole;
  for (const auto &[index, group] : exchanging) {
    if (!isAlike || index == 0)
      whole = exchanged(collective, axes, source, group);
    for (int rank : group) {
      const int64_t own = gathers || scatters ? executable.indexOf(rank, axes) * slice : 0;
      // The place of the rank's own slice is the only one in which source and destination may meet.
      const int64_t inner = gathers ? from.on(rank) - to.on(rank) : to.on(rank) - from.on(rank);
      require(inner == own || from.tier != to.tier || from.on(rank) + from.size <= to.on(rank) ||
                  to.on(rank) + to.size <= from.on(rank),
              [&] { return where(rank) + ": source and destination overlap"; });
      if (left.size() > 1)
        left[size_t(rank)] = scatters ? sliceOf(whole, own, slice) : whole;
    }
  }
  if (left.size() == 1)
    left[0] = std::move(whole);
  write(to, Value(std::move(left)));
}

/// What a member has as a function of its coordinates, on that member.
Slices Machine::onMember(Slices slices, int rank, const std::vector<uint32_t> &axes) {
  for (Slice &slice : slices)
    for (uint32_t axis : axes)
      if (terms.axesOf(slice.term) >> axis & 1)
        slice.term = terms.at(slice.term, int(axis), executable.coordinateOf(rank, int(axis)));
  return slices;
}

Slices Machine::exchanged(const Collective &collective, const std::vector<uint32_t> &axes,
                          const Value &source, const Group &group) {
  if (collective.kind() == Collective::BROADCAST) {
    const int root = group[collective.root()];
    return onMember(source.on(root), root, axes);
  }
  if (collective.kind() != Collective::ALL_GATHER)
    return sumOf(collective, axes, source, group);
  std::map<int, Slices> inOrder;
  for (int rank : group)
    inOrder[executable.indexOf(rank, axes)] = onMember(source.on(rank), rank, axes);
  Slices whole;
  for (const auto &[index, part] : inOrder)
    for (const Slice &value : part)
      append(whole, value);
  return whole;
}

/// What is the same function of the coordinates on all members along some axes is one summand, a
/// sum over these axes. If order counts, these have to be all axes.
Slices Machine::sumOf(const Collective &collective, const std::vector<uint32_t> &axes,
                      const Value &source, const Group &group) {
  const SumType type{collective.dtype(),
                     collective.arithmetic() ? collective.arithmetic() : collective.dtype(),
                     collective.mean()};
  std::vector<const Slices *> sources;
  for (size_t i = 0; i < (source.isAlike() ? 1 : group.size()); ++i)
    sources.push_back(&source.on(group[i]));
  return overStretches(sources, int64_t(bytesOf(collective.dtype())), [&](const Stretch &parts) {
    Slices own;
    for (const Slices &part : parts) {
      if (part.size() != 1 || !terms.hasValue(part[0].term))
        return Slice();
      own.push_back(part[0]);
    }
    std::vector<uint32_t> alike, others;
    for (uint32_t axis : axes)
      (isAlikeAlong(axis, group, own) ? alike : others).push_back(axis);
    if (!others.empty() && !terms.upToOrder) {
      alike = {};
      others = axes;
    }
    const Levels levels(program, alike);
    Group members;
    Slices sums;
    for (size_t i = 0; i < own.size(); ++i)
      if (executable.indexOf(group[i], alike) == 0) {
        members.push_back(group[i]);
        sums.push_back(levels.sum(terms, type, onMember({own[i]}, group[i], others)[0]));
      }
    return replacementOf(sumOfMembers(type, members, sums));
  });
}

/// Whether members that differ along `axis` only have the same function of the coordinates.
bool Machine::isAlikeAlong(uint32_t axis, const Group &group, const Slices &own) const {
  const std::vector<uint32_t> others = othersThan({axis}, program);
  std::map<int, Slice> known;
  for (size_t i = 0; i < own.size(); ++i)
    if (own[i] != known.emplace(executable.indexOf(group[i], others), own[i]).first->second)
      return false;
  return true;
}

/// In the order of members; with `ranks_per_node`, those of a node first.
Slice Machine::sumOfMembers(SumType type, const Group &members, const Slices &parts) {
  const int64_t width = int64_t(bytesOf(type.dtype)), count = int64_t(members.size());
  const int perNode = program.ranks_per_node() ? int(program.ranks_per_node()) : INT32_MAX;
  std::map<int, Slices> nodes;
  for (size_t i = 0; i < parts.size(); ++i)
    nodes[members[i] / perNode].push_back(parts[i]);
  Slices sums = parts;
  if (nodes.size() > 1) {
    sums.clear();
    for (const auto &[node, own] : nodes)
      sums.push_back(terms.sum(type.arithmetic, type.arithmetic, 1, width, own));
  }
  return terms.sum(type.dtype, type.arithmetic, type.mean ? count : 1, width, sums);
}

/// Ranks of a node that are all those along some inner axes are a sum of their own. So it does not
/// matter whether it is the sum of one collective or of two.
Levels::Levels(const proto::Program &program, const std::vector<uint32_t> &axes) {
  const int64_t node = program.ranks_per_node(); // all are multiples of none
  bool isEven = true;
  for (int64_t axis = program.mesh_size() - 1, stride = 1; axis >= 0; --axis) {
    const int64_t next = stride * program.mesh(int(axis)).size();
    if (next > stride && std::count(axes.begin(), axes.end(), uint32_t(axis)) > 0) {
      (node % next == 0 ? inner : outer).axes |= 1u << axis;
      isEven &= node % next == 0 || stride % node == 0;
      count *= next / stride;
    }
    stride = next;
  }
  if (!isEven) {
    outer = {inner.axes | outer.axes, node};
    inner = {};
  }
}

/// The sum of `part` over the ranks, in order, those of a node first.
Slice Levels::sum(Terms &terms, SumType type, Slice part) const {
  const int64_t width = int64_t(bytesOf(type.dtype)), divisor = type.mean ? count : 1;
  if (count == 1)
    return part;
  if (inner.axes == 0 || outer.axes == 0)
    return terms.over(type.dtype, type.arithmetic, divisor, inner.axes ? inner : outer, width,
                      part);
  part = terms.over(type.arithmetic, type.arithmetic, 1, inner, width, part);
  return terms.over(type.dtype, type.arithmetic, divisor, outer, width, part);
}

} // namespace zero::check
