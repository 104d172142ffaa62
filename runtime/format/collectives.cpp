//===- collectives.cpp - kinds of collectives -----------------------------===//

#include "runtime/format/collectives.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace zero::rt {

using Form = CollectiveForm;

static constexpr Form kForms[] = {
    {proto::Collective::ALL_GATHER, ZERO_RT_ALL_GATHER, "all-gather", Form::Slice, Form::Whole,
     /*sums=*/false, /*inPlace=*/false},
    {proto::Collective::REDUCE_SCATTER, ZERO_RT_REDUCE_SCATTER, "reduce-scatter", Form::Whole,
     Form::Slice, /*sums=*/true, /*inPlace=*/false},
    {proto::Collective::ALL_REDUCE, ZERO_RT_ALL_REDUCE, "all-reduce", Form::Slice, Form::Slice,
     /*sums=*/true, /*inPlace=*/true},
    {proto::Collective::BROADCAST, ZERO_RT_BROADCAST, "broadcast", Form::Slice, Form::Slice,
     /*sums=*/false, /*inPlace=*/false},
};

const CollectiveForm *formOf(proto::Collective::Kind kind) {
  const Form *found = std::find_if(std::begin(kForms), std::end(kForms),
                                   [&](auto &form) { return form.kind == kind; });
  return found == std::end(kForms) ? nullptr : found;
}

AxisSet groupAxes(const Mesh &mesh, const proto::Collective &collective) {
  return mesh.proper(collective.axes_size() == 0 ? kAllAxes : axisSet(collective.axes()));
}

uint64_t groupSize(const Mesh &mesh, const proto::Collective &collective) {
  return uint64_t(collective.axes_size() == 0 ? mesh.ranks() : mesh.shares(collective.axes()));
}

/// The axes of the groups, the outermost first in the order of slices.
static std::vector<int> axesOf(const Mesh &mesh, const proto::Collective &collective) {
  if (collective.axes_size() > 0)
    return {collective.axes().begin(), collective.axes().end()};
  std::vector<int> all(size_t(mesh.axes()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> sliceNumbers(const Mesh &mesh, const proto::Collective &collective) {
  const std::vector<int> axes = axesOf(mesh, collective);
  const RankGroup group(mesh, groupAxes(mesh, collective), 0);
  std::vector<int> numbers;
  for (int rank : group.ranks())
    numbers.push_back(mesh.share(axes, rank));
  return std::ranges::is_sorted(numbers) ? std::vector<int>() : numbers;
}

PerAxis sliceStrides(const Mesh &mesh, const proto::Collective &collective, uint64_t bytes) {
  const std::vector<int> axes = axesOf(mesh, collective);
  PerAxis strides{};
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (mesh.size(*axis) == 1)
      continue;
    strides[size_t(*axis)] = int64_t(bytes);
    bytes *= uint64_t(mesh.size(*axis));
  }
  return strides;
}

static uint64_t elementsOf(const proto::Collective &collective, Form::Size size, uint64_t members) {
  return collective.elements() * (size == Form::Whole ? members : 1);
}

uint64_t sourceElements(const proto::Collective &collective, uint64_t members) {
  return elementsOf(collective, formOf(collective.kind())->source, members);
}

uint64_t destinationElements(const proto::Collective &collective, uint64_t members) {
  return elementsOf(collective, formOf(collective.kind())->destination, members);
}

bool areSameBytes(const proto::Collective &collective) {
  const Form &form = *formOf(collective.kind());
  const proto::Address &source = collective.src(), &destination = collective.dst();
  return form.source == form.destination && source.tier() == destination.tier() &&
         source.offset() == destination.offset() &&
         std::ranges::equal(source.rank_strides(), destination.rank_strides());
}

uint64_t receivedElements(const proto::Collective &collective, uint64_t members, uint64_t index) {
  const uint64_t elements = collective.elements();
  const Form &form = *formOf(collective.kind());
  if (form.source != form.destination)
    return elements * (members - 1);
  if (!form.sums)
    return index == collective.root() ? 0 : elements;
  // Each member sums a slice of all data and reads the others' slices.
  const uint64_t slice = (elements + members - 1) / members;
  const uint64_t own = std::min(slice, elements - std::min(elements, slice * index));
  return own * (members - 1) + (elements - own);
}

uint64_t mostReceivedElements(const proto::Collective &collective, uint64_t members) {
  // The first member's slice is the largest; one of the first two is not the root.
  const uint64_t first = receivedElements(collective, members, 0);
  return members > 1 ? std::max(first, receivedElements(collective, members, 1)) : first;
}

} // namespace zero::rt
