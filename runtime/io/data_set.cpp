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

void DataSet::shuffle(uint64_t with) {
  seed = with;
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
  if (!onlyEvaluated && !inputs.empty() && !inputs[leader].shape.empty() &&
      sampleOrder.samples() < sampleOrder.perStep())
    warnings.push_back(format(
        "input '%s' has %llu samples, a global batch %llu: samples are repeated within a batch",
        escape(inputs[leader].name).c_str(), number(sampleOrder.samples()),
        number(sampleOrder.perStep())));
}

Status DataSet::prepare() {
  if (prepared)
    return {};
  ZERO_RT_TRY(checkBound());
  rowsPerSample.assign(inputs.size(), 0);
  leader = 0;
  localBatch = 0;
  for (size_t i = inputs.size(); i-- > 0;)
    if (!sources[i].canStandStill()) {
      localBatch = std::gcd(localBatch, sources[i].rowsPerBatch());
      leader = i;
    }
  uint64_t samples = 1;
  if (localBatch > 0) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!sources[i].canStandStill())
        rowsPerSample[i] = sources[i].rowsPerBatch() / localBatch;
    ZERO_RT_TRY(checkSamples());
    samples = sources[leader].rows() / rowsPerSample[leader];
  } else if (!inputs.empty()) { // one batch for ever
    while (leader + 1 < inputs.size() && inputs[leader].shape.empty())
      ++leader;
    localBatch = sources[leader].rowsPerBatch();
    samples = sources[leader].rows();
  }
  localBatch = std::max<uint64_t>(localBatch, 1);
  sampleOrder = SampleOrder(std::max<uint64_t>(samples, 1),
                            localBatch * batch.ranks * batch.microBatches, seed);
  remark();
  prepared = true;
  return {};
}

/// `sampleAt`: the sample at a position of the global batch.
template <typename SampleAt>
void DataSet::readRows(size_t index, uint64_t microBatch, int rank, void *destination,
                       SampleAt sampleAt) const {
  const DataSource &source = sources[index];
  const uint64_t rows = rowsPerSample[index];
  if (rows == 0)
    return source.read(0, source.rowsPerBatch(), destination);
  auto *target = static_cast<uint8_t *>(destination);
  const uint64_t first = (microBatch * batch.ranks + static_cast<uint64_t>(rank)) * localBatch;
  for (uint64_t i = 0; i < localBatch; ++i, target += rows * source.rowBytes())
    source.read(sampleAt(first + i) * rows, rows, target);
}

void DataSet::read(size_t index, uint64_t step, uint64_t microBatch, int rank,
                   void *destination) const {
  readRows(index, microBatch, rank, destination,
           [&](uint64_t position) { return sampleOrder.sample(step, position); });
}

void DataSet::read(size_t index, const SampleChoice &choice, uint64_t microBatch, int rank,
                   void *destination) const {
  readRows(index, microBatch, rank, destination,
           [&](uint64_t position) { return choice.sample(position); });
}

const char *DataSet::nextWarning() {
  if (warnings.empty())
    return nullptr;
  warning = std::move(warnings.front());
  warnings.pop_front();
  return warning.c_str();
}

} // namespace zero::rt
