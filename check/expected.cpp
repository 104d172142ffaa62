//===- expected.cpp - what a program has to compute -----------------------===//

#include "check/expected.h"

#include <cstring>

namespace zero::check {

static constexpr SumType kMean{proto::F32, proto::F32, true};

Expected::Expected(const Executable &reference, const Executable &executable, Terms &terms,
                   Kernels &kernels, bool gapsAreZero)
    : reference(reference), terms(terms), kernels(kernels), gapsAreZero(gapsAreZero),
      microBatches(int(std::max(1u, executable.program.micro_batches()))),
      levels(executable.program, partAxes(reference.program, executable.program)),
      dataAxes(setOf(executable.program.data_axes())), axes(setOf(axesOf(executable.program, {}))) {
  execute();
  if (parts() > 1)
    scaleSeed(gradients[0], losses.at(0).term);
}

void Expected::execute() {
  before = std::make_unique<Machine>(reference, terms, kernels, dataAxes, gapsAreZero);
  before->replacements = replacements;
  before->begin();
  gradients.clear();
  losses.clear();
  ownLosses.clear();
  Slices found;
  for (int microBatch = 0; microBatch < microBatches; ++microBatch) {
    before->writeInputs(microBatch);
    before->run(proto::Segment::PROLOGUE);
    before->run(proto::Segment::MICRO_BATCH);
    gradients.emplace_back();
    for (const proto::Gradient &gradient : reference.program.gradients())
      gradients.back().push_back(rangeOf(gradient).read(*before));
    const Slices loss = outputOf(*before, "loss"), weight = outputOf(*before, "loss_weight"),
                 own = outputOf(*before, "local_loss");
    require(loss.size() == 1 && loss[0].term != kNone, "the reference has no loss");
    losses.push_back(loss[0]);
    ownLosses.push_back(own.empty() ? loss[0] : own[0]);
    if (weight.size() == 1 && weight[0].term != kNone)
      found.push_back(weight[0]);
    if (microBatch + 1 < microBatches)
      keepStatistics();
  }
  if (weights.empty())
    weights = found;
}

/// Running statistics begin a micro-batch as the one before it leaves them when a step ends.
void Expected::keepStatistics() {
  Machine done = *before;
  done.run(proto::Segment::EPILOGUE);
  for (const proto::Tensor &tensor : reference.program.tensors())
    if (tensor.role() == proto::BUFFER)
      rangeOf(tensor).write(*before, rangeOf(tensor).read(done));
}

Slices Expected::Range::read(const Machine &machine) const {
  const Value value = machine.arena(tier).read(begin, size);
  require(value.isAlike(), "ranks of the reference compute what is no function of coordinates");
  return value.on(0);
}

Expected::Range Expected::rangeOf(const proto::Buffer &buffer, uint64_t start,
                                  uint64_t elements) const {
  const uint64_t width = bytesOf(buffer.dtype());
  return {buffer.tier(), int64_t(buffer.offset() + start * width), int64_t(elements * width)};
}

Expected::Range Expected::rangeOf(const proto::Tensor &tensor) const {
  return rangeOf(reference.program.buffers(int(tensor.buffer())), tensor.start(),
                 reference.elementsOf(tensor));
}

Expected::Range Expected::rangeOf(const proto::Gradient &gradient) const {
  for (const proto::Tensor &tensor : reference.program.tensors())
    if (tensor.name() == gradient.parameter())
      return rangeOf(gradient.buffer(), gradient.start(), reference.elementsOf(tensor));
  throw Refusal("a gradient of '" + gradient.parameter() + "', which is no parameter");
}

Slices Expected::outputOf(const Machine &machine, const std::string &name) const {
  for (const proto::Output &output : reference.program.outputs())
    if (output.name() == name)
      return Range{proto::DEVICE, int64_t(output.offset()),
                   int64_t(elementsOf(output.shape()) * bytesOf(output.dtype()))}
          .read(machine);
  return {};
}

/// Gradients are linear in the constant that backward begins with. It is the only constant that all
/// gradients depend on, but not the loss.
void Expected::scaleSeed(const std::vector<Slices> &found, Term loss) {
  const std::set<Term> ofLoss = terms.leavesOf({{loss, 0, 0}});
  std::map<Term, int> constants; // of one float32, with the number of tensors that have it
  for (const proto::Tensor &tensor : reference.program.tensors())
    if (tensor.role() == proto::CONSTANT && tensor.init().has_data() &&
        tensor.init().data().bytes() == 4 && tensor.dtype() == proto::F32)
      ++constants[before->valueOf(tensor)];
  for (const Slices &gradient : found) {
    const std::set<Term> leaves = terms.leavesOf(gradient);
    std::erase_if(constants, [&](const auto &entry) {
      return entry.second != 1 || !leaves.count(entry.first) || ofLoss.count(entry.first);
    });
  }
  require(constants.size() == 1, "the reference has " + std::to_string(constants.size()) +
                                     " constants that may be what its backward begins with: "
                                     "expected one, which the loss does not depend on");
  const Term begin = constants.begin()->first;
  std::string bytes = terms.nameOf(begin).substr(strlen("constant "));
  float value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  const float scaled = value / float(parts());
  std::memcpy(bytes.data(), &scaled, sizeof(scaled));
  replacements[begin] = terms.constant(bytes);
  seed = std::to_string(value) + " becomes " + std::to_string(scaled);
}

/// The sum of a rank's parts times `factor`, one micro-batch after the other.
Slice Expected::overMicroBatches(const Slices &parts, float factor) {
  Slice sum = terms.scale(factor, parts[0]);
  for (size_t i = 1; i < parts.size(); ++i)
    sum = terms.sum(proto::F32, proto::F32, 1, 4, {sum, terms.scale(factor, parts[i])});
  return sum;
}

Slice Expected::overParts(const Slices &parts, SumType type, bool ranksFirst) {
  const float factor = type.mean ? 1.0f / float(microBatches) : 1;
  if (!ranksFirst)
    return levels.sum(terms, type, overMicroBatches(parts, factor));
  Slices sums;
  for (const Slice &part : parts)
    sums.push_back(levels.sum(terms, type, part));
  return overMicroBatches(sums, factor);
}

Term Expected::weightOf(bool ofAll) {
  if (weights.size() != size_t(microBatches))
    return kNone;
  if (ofAll && parts() > 1)
    return overParts(weights, kMean, false).term;
  return microBatches == 1 ? weights[0].term : kNone;
}

void Expected::run(bool weightOfAll) {
  if (weightOfAll && weightOf(true) != kNone)
    for (const Slice &weight : weights)
      replacements[weight.term] = weightOf(true);
  execute();
  conditions = before->conditions;
  localLoss = overMicroBatches(ownLosses, 1.0f / float(microBatches));
  loss = parts() == 1 ? losses[0] : overParts(losses, kMean, false);
  if (parts() > 1)
    expectOnlyGradientsUsed();
}

/// The update may not use other values of a micro-batch than gradients.
void Expected::expectOnlyGradientsUsed() {
  require(reference.program.gradients_size() > 0, "the reference has no gradients");
  for (const proto::Gradient &gradient : reference.program.gradients())
    require((gradient.buffer().dtype() == proto::F32 || microBatches == 1) &&
                gradient.summands() <= 1,
            "'" + gradient.parameter() +
                "': gradients of 16 bits in several micro-batches are not handled yet");
  Machine machine = *before;
  for (const proto::Gradient &gradient : reference.program.gradients())
    rangeOf(gradient).write(
        machine, {{terms.leaf("gradient of " + gradient.parameter()), 0, rangeOf(gradient).size}});
  machine.run(proto::Segment::EPILOGUE);
  for (const proto::Tensor &tensor : reference.program.tensors())
    for (Term leaf : terms.leavesOf(rangeOf(tensor).read(machine)))
      require(tensor.role() == proto::BUFFER ||
                  terms.nameOf(leaf).find("' of micro-batch ") == std::string::npos,
              "state '" + tensor.name() +
                  "' depends on the batch by more than gradients: not handled by the checker yet");
}

void Expected::update(const std::map<std::string, bool> &ranksFirst, bool others) {
  after = std::make_unique<Machine>(*before);
  for (int i = 0; i < (parts() > 1 ? reference.program.gradients_size() : 0); ++i) {
    const proto::Gradient &gradient = reference.program.gradients(i);
    const proto::DType type = gradient.buffer().dtype();
    const auto order = ranksFirst.find(gradient.parameter());
    const bool isFirst = order == ranksFirst.end() ? others : order->second;
    std::vector<const Slices *> ofParts;
    for (const std::vector<Slices> &own : gradients)
      ofParts.push_back(&own[size_t(i)]);
    auto sum = [&](const Stretch &stretch) {
      Slices parts;
      for (const Slices &part : stretch) {
        parts.push_back(part[0]);
        require(part.size() == 1 && part[0].term != kNone, "a gradient has no value");
      }
      return overParts(parts, {type, proto::F32, false}, isFirst);
    };
    rangeOf(gradient).write(*after, overStretches(ofParts, int64_t(bytesOf(type)), sum));
  }
  after->run(proto::Segment::EPILOGUE);
  states.clear();
  conditions.insert(after->conditions.begin(), after->conditions.end());
  for (const proto::Tensor &tensor : reference.program.tensors()) {
    // Running statistics of a rank change with each of its micro-batches; then they are averaged.
    const bool isAveraged =
        tensor.role() == proto::BUFFER && tensor.dtype() == proto::F32 && levels.count > 1;
    hasAverages |= isAveraged;
    for (Slice slice : rangeOf(tensor).read(*after)) {
      const int64_t size = slice.size;
      if (isAveraged)
        slice = levels.sum(terms, kMean, slice);
      slice.size = size;
      require((terms.axesOf(slice.term) & axes & ~setOf(tensor.split().axes())) == 0,
              "state '" + tensor.name() + "' would be another one on each rank: not handled yet");
      append(states[tensor.name()], slice);
    }
  }
}

Slices Expected::outputOf(const proto::Output &output) const {
  for (const proto::Output &own : reference.program.outputs())
    if (own.name() == output.name() && own.dtype() == output.dtype() &&
        std::equal(own.shape().begin(), own.shape().end(), output.shape().begin(),
                   output.shape().end()))
      return outputOf(*after, own.name());
  throw Refusal("output '" + output.name() + "' is not in the reference, with this type and shape");
}

} // namespace zero::check
