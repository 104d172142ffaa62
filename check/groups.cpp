//===- groups.cpp - ranks that exchange, and stretches of bytes -----------===//

#include "check/groups.h"

#include "check/refusal.h"

#include <algorithm>

namespace zero::check {

std::vector<uint32_t> axesOf(const proto::Program &program, const proto::Collective &collective) {
  std::vector<uint32_t> axes(collective.axes().begin(), collective.axes().end());
  if (axes.empty())
    for (int axis = 0; axis < program.mesh_size(); ++axis)
      axes.push_back(uint32_t(axis));
  for (uint32_t axis : axes)
    require(axis < uint32_t(program.mesh_size()) && std::count(axes.begin(), axes.end(), axis) == 1,
            "a collective names an axis that does not exist, or twice");
  return axes;
}

std::vector<Group> groupsOf(const Executable &executable, const std::vector<uint32_t> &axes) {
  std::vector<uint32_t> others;
  for (uint32_t axis = 0; axis < uint32_t(executable.program.mesh_size()); ++axis)
    if (std::count(axes.begin(), axes.end(), axis) == 0)
      others.push_back(axis);
  std::map<int, Group> groups; // by the coordinates along the other axes
  for (int rank = 0; rank < executable.ranks(); ++rank)
    groups[executable.indexOf(rank, others)].push_back(rank);
  std::vector<Group> found;
  for (auto &[rest, group] : groups)
    found.push_back(std::move(group));
  return found;
}

Slices overStretches(const std::vector<const Slices *> &values, const std::vector<int64_t> &widths,
                     int64_t width, const std::function<Slice(const Stretch &parts)> &body) {
  Slices left;
  forEachStretch(values, widths, [&](const Stretch &parts, int64_t elements) {
    Slice value = body(parts);
    value.size = elements * width;
    append(left, value);
  });
  return left;
}

void forEachStretch(const std::vector<const Slices *> &values, const std::vector<int64_t> &widths,
                    const std::function<void(const Stretch &parts, int64_t elements)> &body) {
  std::vector<size_t> at(values.size());
  std::vector<int64_t> done(values.size());
  Stretch parts(values.size());
  while (!values.empty() && at[0] < values[0]->size()) {
    int64_t elements = INT64_MAX;
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t left = (*values[i])[at[i]].size - done[i];
      elements = std::min(elements, std::max<int64_t>(1, left / widths[i]));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      parts[i].clear();
      for (int64_t bytes = elements * widths[i]; bytes > 0;) {
        const Slice &slice = (*values[i])[at[i]];
        Slice part = slice.from(done[i]);
        part.size = std::min(part.size, bytes);
        bytes -= part.size;
        done[i] += part.size;
        append(parts[i], part);
        if (done[i] == slice.size) {
          ++at[i];
          done[i] = 0;
        }
      }
    }
    body(parts, elements);
  }
}

} // namespace zero::check
