//===- groups.cpp - ranks that exchange, and stretches of bytes -----------===//

#include "check/groups.h"

#include <algorithm>

namespace zero::check {

std::vector<uint32_t> axesOf(const proto::Program &program, const proto::Collective &collective) {
  std::vector<uint32_t> axes(collective.axes().begin(), collective.axes().end());
  if (axes.empty())
    axes = othersThan({}, program);
  for (uint32_t axis : axes)
    require(axis < uint32_t(program.mesh_size()) && std::count(axes.begin(), axes.end(), axis) == 1,
            "a collective names an axis that does not exist, or twice");
  std::erase_if(axes, [&](uint32_t axis) { return program.mesh(int(axis)).size() == 1; });
  return axes;
}

std::vector<uint32_t> othersThan(const std::vector<uint32_t> &axes, const proto::Program &program) {
  std::vector<uint32_t> others;
  for (uint32_t axis = 0; axis < uint32_t(program.mesh_size()); ++axis)
    if (std::count(axes.begin(), axes.end(), axis) == 0)
      others.push_back(axis);
  return others;
}

std::map<int, Group> groupsOf(const Executable &executable, const std::vector<uint32_t> &axes) {
  const std::vector<uint32_t> others = othersThan(axes, executable.program);
  std::map<int, Group> groups;
  for (int rank = 0; rank < executable.ranks(); ++rank)
    groups[executable.indexOf(rank, others)].push_back(rank);
  return groups;
}

Slices overStretches(const std::vector<const Slices *> &values, int64_t width,
                     const std::function<Slice(const Stretch &parts)> &body) {
  Slices left;
  const std::vector<int64_t> widths(values.size(), width);
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
