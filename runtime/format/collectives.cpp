//===- collectives.cpp - kinds of collectives -----------------------------===//

#include "runtime/format/collectives.h"

#include <algorithm>
#include <iterator>

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

static uint64_t elementsOf(const proto::Collective &collective, Form::Size size, uint64_t ranks) {
  return collective.elements() * (size == Form::Whole ? ranks : 1);
}

uint64_t sourceElements(const proto::Collective &collective, uint64_t ranks) {
  return elementsOf(collective, formOf(collective.kind())->source, ranks);
}

uint64_t destinationElements(const proto::Collective &collective, uint64_t ranks) {
  return elementsOf(collective, formOf(collective.kind())->destination, ranks);
}

bool areSameBytes(const proto::Collective &collective) {
  const Form &form = *formOf(collective.kind());
  const proto::Address &source = collective.src(), &destination = collective.dst();
  return form.source == form.destination && source.tier() == destination.tier() &&
         source.offset() == destination.offset() &&
         source.rank_stride() == destination.rank_stride();
}

uint64_t receivedElements(const proto::Collective &collective, uint64_t ranks, uint64_t rank) {
  const uint64_t elements = collective.elements();
  const Form &form = *formOf(collective.kind());
  if (form.source != form.destination)
    return elements * (ranks - 1);
  if (!form.sums)
    return rank == collective.root() ? 0 : elements;
  // Each rank sums a slice of all ranks' data and reads the others' slices.
  const uint64_t slice = (elements + ranks - 1) / ranks;
  const uint64_t own = std::min(slice, elements - std::min(elements, slice * rank));
  return own * (ranks - 1) + (elements - own);
}

uint64_t mostReceivedElements(const proto::Collective &collective, uint64_t ranks) {
  // The first rank's slice is the largest; one of the first two is not the root.
  const uint64_t first = receivedElements(collective, ranks, 0);
  return ranks > 1 ? std::max(first, receivedElements(collective, ranks, 1)) : first;
}

} // namespace zero::rt
