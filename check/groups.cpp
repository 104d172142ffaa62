//===- groups.cpp - ranks that exchange, and stretches of bytes -----------===//

#include "check/machine.h"
#include "check/refusal.h"

#include <algorithm>

namespace zero::check {

std::vector<Group> groupsOf(const Executable &executable, const proto::Collective &collective) {
  const proto::Program &program = executable.program;
  std::vector<uint32_t> axes(collective.axes().begin(), collective.axes().end());
  if (axes.empty())
    for (int axis = 0; axis < program.mesh_size(); ++axis)
      axes.push_back(uint32_t(axis));
  for (uint32_t axis : axes)
    require(axis < uint32_t(program.mesh_size()), "a collective names an axis that does not exist");
  std::map<Coordinates, Group> groups; // by the coordinates along the other axes
  for (int rank = 0; rank < executable.ranks(); ++rank) {
    Coordinates rest = executable.coordinatesOf(rank);
    int slice = 0;
    for (uint32_t axis : axes) {
      slice = slice * int(program.mesh(int(axis)).size()) + int(rest[axis]);
      rest[axis] = 0;
    }
    groups[rest].members.push_back(rank);
    groups[rest].slices.push_back(slice);
  }
  std::vector<Group> found;
  for (auto &[rest, group] : groups) {
    for (int slice : group.slices)
      require(size_t(slice) < group.members.size(), "a collective names an axis twice");
    found.push_back(std::move(group));
  }
  return found;
}

void forEachStretch(const std::vector<Slices> &values, const std::vector<int64_t> &widths,
                    const std::function<void(const Slices &parts, int64_t elements)> &body) {
  std::vector<size_t> at(values.size());
  std::vector<int64_t> done(values.size());
  Slices parts(values.size());
  while (!values.empty() && at[0] < values[0].size()) {
    int64_t elements = INT64_MAX;
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t left = values[i][at[i]].size - done[i];
      elements = std::min(elements, std::max<int64_t>(1, left / widths[i]));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const Slice &slice = values[i][at[i]];
      int64_t bytes = elements * widths[i];
      const bool isWhole = slice.size - done[i] >= bytes;
      parts[i] = {isWhole ? slice.term : 0, slice.offset + done[i], bytes};
      for (; bytes > 0; ++at[i], done[i] = 0) {
        const int64_t left = values[i][at[i]].size - done[i];
        if (left > bytes) {
          done[i] += bytes;
          break;
        }
        bytes -= left;
      }
    }
    body(parts, elements);
  }
}

} // namespace zero::check
