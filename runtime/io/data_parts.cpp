//===- data_parts.cpp - data that is made of parts ------------------------===//

#include "runtime/io/data_set.h"

#include <algorithm>
#include <cmath>

namespace zero::rt {

Status DataSet::addPart(std::shared_ptr<DataSet> part, double weight) {
  if (!(weight >= 0 && std::isfinite(weight)))
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected a weight of data above 0, got %g", weight);
  if (part.get() == this || !part->hasInputsOf(*this))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected a part for the inputs of the data, other than these");
  if (std::ranges::any_of(sources, &DataSource::isBound))
    return fail(ZERO_RT_INVALID_ARGUMENT, "data that has parts has no arrays or files of its own");
  if (!parts.empty() && (parts.front().weight > 0) != (weight > 0))
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected a weight of each part of the data, or of none");
  part->onlyEvaluated = part->isPart = true; // how small it is does not matter
  part->prepared = false;
  parts.push_back({std::move(part), weight, 0});
  prepared = false;
  return {};
}

std::vector<double> DataSet::weights() const {
  std::vector<double> all;
  for (const Part &part : parts)
    if (part.weight > 0)
      all.push_back(part.weight);
  return all;
}

/// That of the first part stands for all.
const DataSource &DataSet::sourceOf(size_t index) const {
  return parts.empty() ? sources[index] : parts.front().set->sourceOf(index);
}

/// Whether all inputs have rows for as many batches of `shape`. Then none stands still in a part:
/// that it has the rows of one batch, or one row, is chance.
bool DataSet::areAlike(size_t shape) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (sources[i].rows() * inputs[0].rows(shape) != sources[0].rows() * inputs[i].rows(shape))
      return false;
  return true;
}

/// The parts have the same rows, and serve one shape.
Status DataSet::prepareParts() {
  std::vector<Mixture::Part> mixed;
  uint64_t samples = 0;
  const DataSet &one = *parts.front().set;
  for (Part &part : parts) {
    ZERO_RT_TRY(part.set->prepare());
    if (part.set->rowsPerSample != one.rowsPerSample || part.set->localBatch != one.localBatch ||
        part.set->candidates.front() != one.candidates.front())
      return fail(ZERO_RT_BAD_DATA, "part %zu of the data has other rows than part 1",
                  size_t(&part - parts.data()) + 1);
    while (const char *text = part.set->nextWarning())
      if (std::ranges::find(warnings, text) == warnings.end())
        warnings.emplace_back(text);
    part.first = samples;
    samples += part.set->order().samples();
    mixed.push_back({part.set->order().samples(), part.weight});
  }
  rowsPerSample = one.rowsPerSample, localBatch = one.localBatch, leader = one.leader;
  candidates = {one.candidates.front()};
  const uint64_t perStep = globalBatch(candidates.front());
  if (isMixture())
    mixture = Mixture(mixed, seed, window);
  sampleOrder = isMixture() ? SampleOrder::endless(samples, perStep)
                            : SampleOrder(samples, perStep, seed, /*last=*/0, window);
  remarkSmall();
  prepared = true;
  return {};
}

/// Writes the rows of a sample.
void DataSet::readSample(size_t index, size_t shape, uint64_t sample, void *target) const {
  if (parts.empty()) {
    const uint64_t rows = rowsPerSample[index];
    return sources[index].read(sample * rows, rows, shape, target);
  }
  const auto behind = std::ranges::upper_bound(parts, sample, {}, &Part::first);
  const Part &part = *std::prev(behind);
  part.set->readSample(index, shape, sample - part.first, target);
}

} // namespace zero::rt
