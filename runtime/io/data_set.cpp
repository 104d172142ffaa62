//===- data_set.cpp - batches of all inputs -------------------------------===//

#include "runtime/io/data_set.h"

#include "runtime/io/stream.h"

#include <algorithm>
#include <numeric>

namespace zero::rt {

DataSet::DataSet(std::vector<InputSpec> inputs, BatchShape batch)
    : inputs(std::move(inputs)), sources(this->inputs.size()), batch(batch) {}

std::string DataSet::inputsText() const {
  std::string text;
  for (const InputSpec &input : inputs)
    text += (text.empty() ? "'" : ", '") + escape(input.name) + "' (" + input.text() + ")";
  return text.empty() ? "none" : text;
}

bool DataSet::hasInputsOf(const DataSet &other) const {
  return inputs == other.inputs && batch == other.batch;
}

Status DataSet::find(const std::string &name, size_t &index) const {
  for (index = 0; index < inputs.size(); ++index)
    if (inputs[index].name == name)
      return {};
  return fail(ZERO_RT_NOT_FOUND, "the program has no input '%s'; its inputs are %s",
              escape(name).c_str(), inputsText().c_str());
}

Status DataSet::bind(const std::string &input, Array array) {
  size_t index;
  ZERO_RT_TRY(find(input, index));
  ZERO_RT_TRY(DataSource::create(inputs[index], std::move(array), sources[index]));
  prepared = false;
  return {};
}

const DocumentRows *DataSet::documents() const {
  if (!parts.empty())
    return parts.front().set->documents();
  for (const DataSource &source : sources)
    if (const DocumentInput *found = source.documents())
      return &found->rows();
  return nullptr;
}

Status DataSet::bindFile(const std::string &input, const ArrayFile &file) {
  size_t index;
  ZERO_RT_TRY(find(input, index));
  if (isDocumentFolder(file.path)) {
    std::shared_ptr<const DocumentInput> documents;
    ZERO_RT_TRY(DocumentInput::open(inputs[index], file, packing, folders, documents));
    sources[index] = DataSource::of(inputs[index], std::move(documents));
    prepared = false;
    return {};
  }
  Array array;
  Status status = readArray(file, input, array);
  if (status.ok())
    status = cutStream(inputs[index].shape, file, array);
  if (!status.ok())
    return fail(status.getCode(), "input '%s': %s", escape(input).c_str(),
                status.getMessage().c_str());
  return bind(input, std::move(array));
}

void DataSet::shuffle(uint64_t with, uint64_t samples) {
  seed = with;
  window = samples;
  prepared = false;
}

//===----------------------------------------------------------------------===//
// Common properties of the inputs
//===----------------------------------------------------------------------===//

Status DataSet::checkBound() const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!sources[i].isBound())
      return fail(ZERO_RT_INVALID_ARGUMENT, "no data for input '%s'; the inputs are %s",
                  escape(inputs[i].name).c_str(), inputsText().c_str());
  return {};
}

Status DataSet::checkSamples() const {
  const DataSource &first = sources[leader];
  uint64_t samples = first.rows() / rowsPerSample[leader];
  for (size_t i = 0; i < sources.size(); ++i)
    if (rowsPerSample[i] && sources[i].rows() / rowsPerSample[i] != samples)
      return fail(ZERO_RT_BAD_DATA,
                  "inputs '%s' and '%s' hold different numbers of samples: %llu%s and %llu%s",
                  escape(inputs[leader].name).c_str(), escape(inputs[i].name).c_str(),
                  static_cast<unsigned long long>(samples), first.place().c_str(),
                  static_cast<unsigned long long>(sources[i].rows() / rowsPerSample[i]),
                  sources[i].place().c_str());
  return {};
}

/// What of the documents the program does not read: once, as all inputs cut them alike.
void DataSet::remarkDocuments() {
  const DocumentInput *ids = nullptr, *labels = nullptr;
  const bool areAll = std::ranges::all_of(sources, &DataSource::documents);
  const bool isPacked = documents() && documents()->packing() != Packing::Off;
  bool readsPositions = false;
  for (const DataSource &source : sources)
    if (const DocumentInput *documents = source.documents()) {
      if (documents->reads() == DocumentPart::Ids)
        ids = documents;
      if (documents->reads() == DocumentPart::Labels)
        labels = documents;
      readsPositions = readsPositions || documents->reads() == DocumentPart::Positions;
    }
  if (isPacked && areAll && !readsPositions)
    warnings.push_back("rows have several documents, and no input reads the positions of tokens: "
                       "a token attends to the documents before its own");
  if (ids && !labels && areAll)
    warnings.push_back("no input reads the labels of the documents: the loss counts padding and "
                       "tokens that are not to be trained; name it: --data=NAME=FOLDER:labels");
  if (const DocumentInput *either = labels ? labels : ids)
    if (std::string text = either->remark(); !text.empty())
      warnings.push_back(std::move(text));
}

void DataSet::remark() {
  remarkDocuments();
  const auto number = [](uint64_t count) { return static_cast<unsigned long long>(count); };
  for (size_t i = 0; i < sources.size(); ++i)
    if (!rowsPerSample[i] && rowsPerSample[leader] && !inputs[i].shape.empty())
      warnings.push_back(
          format("input '%s' has %llu row%s, '%s' more: every step and rank reads the same rows",
                 escape(inputs[i].name).c_str(), number(sources[i].rows()),
                 sources[i].rows() == 1 ? "" : "s", escape(inputs[leader].name).c_str()));
  remarkSmall();
}

void DataSet::remarkSmall() {
  if (!onlyEvaluated && !inputs.empty() && !inputs[leader].shape.empty() &&
      sampleOrder.samples() < sampleOrder.perStep())
    warnings.push_back(format(
        "input '%s' has %llu samples, a global batch %llu: samples are repeated within a batch",
        escape(inputs[leader].name).c_str(), static_cast<unsigned long long>(sampleOrder.samples()),
        static_cast<unsigned long long>(sampleOrder.perStep())));
}

/// Whether the data fill a global batch of `shape`.
bool DataSet::fills(size_t shape) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (sources[i].rows() >= inputs[i].rows(shape) * batch.ranks * batch.microBatches)
      return true;
  return inputs.empty();
}

/// Finds the candidates. Those larger than the data are none, unless all are.
Status DataSet::findShapes() {
  candidates.clear();
  for (size_t shape = 0; shape < countShapes(); ++shape)
    if (std::ranges::all_of(sources, [&](const DataSource &each) { return each.fits(shape); }))
      candidates.push_back(shape);
  const auto first = std::ranges::find_if(candidates, [&](size_t shape) { return fills(shape); });
  if (first != candidates.end())
    candidates.erase(candidates.begin(), first);
  return candidates.empty()
             ? fail(ZERO_RT_BAD_DATA,
                    "the rows of the inputs fit different shapes of the program; its inputs are %s",
                    inputsText().c_str())
             : Status();
}

/// The samples of a local batch by shape, given how many rows of each input a sample has; 0 for a
/// shape that is no candidate, or has no whole samples.
std::vector<uint64_t> DataSet::localBatches() const {
  std::vector<uint64_t> counts(countShapes(), 0);
  for (size_t shape : candidates) {
    uint64_t count = 1;
    if (!inputs.empty())
      count = inputs[leader].rows(shape) / std::max<uint64_t>(rowsPerSample[leader], 1);
    count = std::max<uint64_t>(count, 1);
    bool isWhole = true;
    for (size_t i = 0; i < inputs.size(); ++i)
      isWhole =
          isWhole && (rowsPerSample[i] == 0 || inputs[i].rows(shape) == count * rowsPerSample[i]);
    counts[shape] = isWhole ? count : 0;
  }
  return counts;
}

/// Whether rows of `shape` are as long as those of the first candidate.
bool DataSet::hasLongestRows(size_t shape) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (sources[i].rowBytes(shape) != sources[i].rowBytes(candidates.front()))
      return false;
  return true;
}

/// The samples of the last batch of an epoch of `samples`: the most that a shape has whose global
/// batch they fill; 0: none.
uint64_t DataSet::chooseLast(uint64_t samples) const {
  const uint64_t whole = globalBatch(candidates.front());
  uint64_t last = 0;
  for (size_t shape : candidates)
    if (const uint64_t count = globalBatch(shape);
        samples >= whole && count <= samples % whole && hasLongestRows(shape))
      last = std::max(last, count);
  return last;
}

Status DataSet::prepare() {
  if (prepared)
    return {};
  if (!parts.empty())
    return prepareParts();
  ZERO_RT_TRY(checkBound());
  ZERO_RT_TRY(findShapes());
  const size_t first = candidates.front();
  rowsPerSample.assign(inputs.size(), 0);
  leader = 0;
  uint64_t common = 0; // divisor of the rows
  const bool areSamples = isPart && areAlike(first);
  const auto moves = [&](size_t i) {
    return areSamples || !sources[i].canStandStill(inputs[i].rows(first));
  };
  for (size_t i = inputs.size(); i-- > 0;)
    if (moves(i)) {
      common = std::gcd(common, inputs[i].rows(first));
      leader = i;
    }
  uint64_t samples = 1;
  if (common > 0) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (moves(i))
        rowsPerSample[i] = inputs[i].rows(first) / common;
    ZERO_RT_TRY(checkSamples());
    samples = sources[leader].rows() / rowsPerSample[leader];
  } else if (!inputs.empty()) { // one batch for ever
    while (leader + 1 < inputs.size() && inputs[leader].shape.empty())
      ++leader;
    samples = sources[leader].rows();
  }
  localBatch = localBatches();
  std::erase_if(candidates, [&](size_t shape) { return localBatch[shape] == 0; });
  samples = std::max<uint64_t>(samples, 1);
  sampleOrder = SampleOrder(samples, globalBatch(first), seed, chooseLast(samples), window);
  remark();
  prepared = true;
  return {};
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

/// Whether `shape` has a place for each token of documents in `samples` samples.
template <typename SampleAt>
bool DataSet::holds(size_t shape, uint64_t samples, SampleAt sampleAt) const {
  for (size_t i = 0; i < sources.size(); ++i) {
    const DocumentInput *documents = sources[i].documents();
    const uint64_t each = rowsPerSample[i];
    const uint64_t rows = each ? samples * each : inputs[i].rows(shape);
    for (uint64_t row = 0; documents && row < rows; ++row)
      if (!documents->holds(shape, each ? sampleAt(row / each) * each + row % each : row))
        return false;
  }
  return true;
}

/// The smallest candidate whose global batch has so many samples, and that holds each of them.
/// `sampleAt`: the sample at a position of the global batch.
template <typename SampleAt>
size_t DataSet::smallestFor(uint64_t samples, SampleAt sampleAt) const {
  for (size_t at = candidates.size(); at-- > 1;)
    if (const size_t shape = candidates[at];
        globalBatch(shape) == samples && holds(shape, samples, sampleAt))
      return shape;
  return candidates.front();
}

size_t DataSet::shapeOf(uint64_t step) const {
  return smallestFor(sampleOrder.samplesOf(step),
                     [&](uint64_t position) { return sampleOrder.sample(step, position); });
}

size_t DataSet::shapeOf(const SampleChoice &choice) const {
  return smallestFor(sampleOrder.perStep(),
                     [&](uint64_t position) { return choice.sample(position); });
}

/// `readAt`: writes the sample at a position of the global batch.
template <typename ReadAt>
void DataSet::readRows(size_t index, size_t shape, uint64_t microBatch, int rank, void *destination,
                       ReadAt readAt) const {
  const DataSource &source = sourceOf(index);
  const uint64_t rows = rowsPerSample[index], samples = localBatch[shape];
  if (rows == 0)
    return source.read(0, inputs[index].rows(shape), shape, destination);
  auto *target = static_cast<uint8_t *>(destination);
  const uint64_t first = (microBatch * batch.ranks + static_cast<uint64_t>(rank)) * samples;
  for (uint64_t i = 0; i < samples; ++i, target += rows * source.rowBytes(shape))
    readAt(first + i, target);
}

void DataSet::read(size_t index, size_t shape, uint64_t step, uint64_t microBatch, int rank,
                   void *destination) const {
  readRows(index, shape, microBatch, rank, destination, [&](uint64_t position, void *target) {
    if (!isMixture())
      return readSample(index, shape, sampleOrder.sample(step, position), target);
    const Mixture::Place place = mixture.at(step * sampleOrder.perStep() + position);
    parts[place.part].set->readSample(index, shape, place.sample, target);
  });
}

void DataSet::read(size_t index, size_t shape, const SampleChoice &choice, uint64_t microBatch,
                   int rank, void *destination) const {
  readRows(index, shape, microBatch, rank, destination, [&](uint64_t position, void *target) {
    readSample(index, shape, choice.sample(position), target);
  });
}

const char *DataSet::nextWarning() {
  if (warnings.empty())
    return nullptr;
  warning = std::move(warnings.front());
  warnings.pop_front();
  return warning.c_str();
}

} // namespace zero::rt
