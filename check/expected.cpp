//===- expected.cpp - what a program has to compute -----------------------===//

#include "check/expected.h"

#include "check/refusal.h"

#include <cstring>
#include <numeric>

namespace zero::check {

static std::string partName(int rank, int microBatch) {
  return "rank " + std::to_string(rank) + ", micro-batch " + std::to_string(microBatch);
}

Expected::Expected(const Executable &reference, const std::vector<int64_t> &kernelNumbers,
                   const Executable &executable, Terms &terms, Kernels &kernels)
    : reference(reference), kernelNumbers(kernelNumbers), executable(executable), terms(terms),
      kernels(kernels), ranks(executable.ranks()),
      microBatches(int(std::max(1u, executable.program.micro_batches()))), members(size_t(ranks)) {
  std::iota(members.begin(), members.end(), 0);
  auto machine = execute();
  if (parts() > 1)
    scaleSeed(gradientsOf(*machine), outputOf(*machine, "loss").at(0).term);
  const Slices found = outputOf(*machine, "loss_weight");
  if (found.size() == 1 && found[0].term != 0)
    for (int part = 0; part < parts(); ++part) {
      Terms::Renaming renamed;
      weights.push_back(terms.rename(found[0].term, nameOfPart(0), nameOfPart(part), renamed));
    }
}

std::string Expected::nameOfPart(int part) const {
  return partName(part / microBatches, part % microBatches);
}

/// Executes the reference up to the gradients, with the inputs of the first part.
std::unique_ptr<Machine> Expected::execute() const {
  auto machine = std::make_unique<Machine>(reference, kernelNumbers, terms, kernels, partName);
  machine->replacements = replacements;
  machine->begin();
  machine->run(proto::Segment::PROLOGUE);
  machine->run(proto::Segment::MICRO_BATCH);
  return machine;
}

Slices Expected::outputOf(const Machine &machine, const std::string &name) const {
  for (const proto::Output &output : reference.program.outputs())
    if (output.name() == name)
      return machine.arena(0).read(int64_t(output.offset()), int64_t(bytesOf(output.dtype())));
  return {};
}

static uint64_t elementsOf(const proto::Program &program, const std::string &parameter) {
  for (const proto::Tensor &tensor : program.tensors())
    if (tensor.name() == parameter)
      return elementsOf(tensor.shape());
  throw Refusal("a gradient of '" + parameter + "', which is no parameter");
}

std::vector<Slices> Expected::gradientsOf(const Machine &machine) const {
  std::vector<Slices> found;
  for (const proto::Gradient &gradient : reference.program.gradients())
    machine.forEachPart(gradient.buffer(), gradient.start(),
                        elementsOf(reference.program, gradient.parameter()), 0,
                        [&](proto::Tier tier, int64_t place, int64_t, int64_t size) {
                          found.push_back(machine.arena(0, tier).read(place, size));
                        });
  require(found.size() == size_t(reference.program.gradients_size()),
          "a gradient of the reference is outside of its buffer");
  return found;
}

void Expected::writeGradients(Machine &machine,
                              const std::function<Slices(size_t)> &gradient) const {
  size_t next = 0;
  for (const proto::Gradient &entry : reference.program.gradients())
    machine.forEachPart(entry.buffer(), entry.start(),
                        elementsOf(reference.program, entry.parameter()), 0,
                        [&](proto::Tier tier, int64_t place, int64_t, int64_t) {
                          machine.arena(0, tier).write(place, gradient(next++), -1);
                        });
}

/// Gradients are linear in the constant that backward begins with. It is the only constant that all
/// gradients depend on, but not the loss.
void Expected::scaleSeed(const std::vector<Slices> &found, Term loss) {
  const std::set<Term> ofLoss = terms.leavesOf({loss});
  std::map<Term, int> constants; // of one float32, with the number of tensors that have it
  Machine machine(reference, kernelNumbers, terms, kernels, partName);
  for (const proto::Tensor &tensor : reference.program.tensors())
    if (tensor.role() == proto::CONSTANT && tensor.init().has_data() &&
        tensor.init().data().bytes() == 4 && tensor.dtype() == proto::F32)
      ++constants[machine.valueOf(tensor)];
  for (const Slices &gradient : found) {
    std::vector<Term> roots;
    for (const Slice &slice : gradient)
      roots.push_back(slice.term);
    const std::set<Term> leaves = terms.leavesOf(roots);
    std::erase_if(constants, [&](const auto &entry) {
      return entry.second != 1 || !leaves.count(entry.first) || ofLoss.count(entry.first);
    });
  }
  require(constants.size() == 1, "the reference has " + std::to_string(constants.size()) +
                                     " constants that may be what its backward begins with: "
                                     "expected one, which the loss does not depend on");
  const Term seed = constants.begin()->first;
  std::string bytes = terms.nameOf(seed).substr(strlen("constant "));
  float value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  const float scaled = value / float(parts());
  std::memcpy(bytes.data(), &scaled, sizeof(scaled));
  replacements[seed] = terms.leaf("constant " + bytes);
  seedText = std::to_string(value) + " becomes " + std::to_string(scaled);
}

//===----------------------------------------------------------------------===//
// Sums over parts
//===----------------------------------------------------------------------===//

/// The sum of a rank's parts times `factor`, one micro-batch after the other.
Slice Expected::overMicroBatches(const Slice *parts, float factor) {
  Slice sum = terms.scale(factor, parts[0]);
  for (int i = 1; i < microBatches; ++i)
    sum = terms.sum(proto::F32, proto::F32, 1, 4, {sum, terms.scale(factor, parts[i])});
  return sum;
}

Slice Expected::meanOfParts(const Slices &parts) {
  Slices sums;
  for (int rank = 0; rank < ranks; ++rank)
    sums.push_back(
        overMicroBatches(&parts[size_t(rank) * size_t(microBatches)], 1.0f / float(microBatches)));
  return sumOverRanks(terms, executable.program, proto::F32, proto::F32, true, members, sums);
}

Slice Expected::sumOfParts(const Slices &parts, SumOrder order) {
  auto overRanks = [&](const Slices &summands) {
    return sumOverRanks(terms, executable.program, proto::F32, proto::F32, false, members,
                        summands);
  };
  Slices sums;
  if (order == SumOrder::MicroBatchesFirst) {
    for (int rank = 0; rank < ranks; ++rank)
      sums.push_back(overMicroBatches(&parts[size_t(rank) * size_t(microBatches)], 1));
    return overRanks(sums);
  }
  for (int microBatch = 0; microBatch < microBatches; ++microBatch) {
    Slices summands;
    for (int rank = 0; rank < ranks; ++rank)
      summands.push_back(parts[size_t(rank) * size_t(microBatches) + size_t(microBatch)]);
    sums.push_back(overRanks(summands));
  }
  return overMicroBatches(sums.data(), 1);
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

Term Expected::weightOf(int rank, LossWeight kind) {
  if (weights.size() != size_t(parts()))
    return 0;
  if (kind == LossWeight::OfPart || parts() == 1)
    return microBatches == 1 ? weights[size_t(rank)] : 0;
  Slices slices;
  for (Term own : weights)
    slices.push_back({own, 0, 4});
  return meanOfParts(slices).term;
}

void Expected::run(LossWeight kind) {
  const Term ofAll = kind == LossWeight::OfAll ? weightOf(0, kind) : 0;
  if (ofAll != 0)
    replacements[weights[0]] = ofAll;
  before = execute();
  gradients.push_back(gradientsOf(*before));
  Slices losses = outputOf(*before, "loss");
  require(losses.size() == 1 && losses[0].term != 0, "the reference has no loss");
  allConditions = before->conditions;
  for (int part = 1; part < parts(); ++part) {
    // The weight of all parts is the same in each.
    Terms::Renaming renamed{{ofAll, ofAll}, {0, 0}};
    auto rename = [&](Term term) {
      return terms.rename(term, nameOfPart(0), nameOfPart(part), renamed);
    };
    losses.push_back(losses[0]);
    losses.back().term = rename(losses[0].term);
    gradients.push_back(gradients[0]);
    for (Slices &gradient : gradients.back())
      for (Slice &slice : gradient)
        slice.term = rename(slice.term);
    for (auto [term, start, lower, upper] : before->conditions)
      allConditions.insert({rename(term), start, lower, upper});
  }
  for (int rank = 0; rank < ranks; ++rank)
    localLosses.push_back(
        overMicroBatches(&losses[size_t(rank) * size_t(microBatches)], 1.0f / float(microBatches)));
  meanLoss = parts() == 1 ? losses[0] : meanOfParts(losses);
  if (parts() > 1)
    expectOnlyGradientsUsed();
}

/// The update of part 0 may not use other values of that part than gradients.
void Expected::expectOnlyGradientsUsed() {
  require(reference.program.gradients_size() > 0, "the reference has no gradients");
  for (const proto::Gradient &gradient : reference.program.gradients())
    require(gradient.buffer().dtype() == proto::F32 && gradient.summands() <= 1,
            "'" + gradient.parameter() + "': gradients of 16 bits are not handled yet");
  Machine machine = *before;
  writeGradients(machine, [&](size_t number) {
    int64_t size = 0;
    for (const Slice &slice : gradients[0][number])
      size += slice.size;
    return Slices{{terms.leaf("gradient " + std::to_string(number)), 0, size}};
  });
  machine.run(proto::Segment::EPILOGUE);
  for (const proto::Tensor &tensor : reference.program.tensors()) {
    const proto::Buffer &buffer = reference.program.buffers(int(tensor.buffer()));
    machine.forEachPart(buffer, tensor.start(), elementsOf(reference.program, tensor.name()), 0,
                        [&](proto::Tier tier, int64_t place, int64_t, int64_t size) {
                          std::vector<Term> roots;
                          for (const Slice &slice : machine.arena(0, tier).read(place, size))
                            roots.push_back(slice.term);
                          for (Term leaf : terms.leavesOf(roots))
                            require(terms.nameOf(leaf).find(partName(0, 0)) == std::string::npos,
                                    "state '" + tensor.name() +
                                        "' depends on the batch by more than gradients: not "
                                        "handled by the checker yet");
                        });
  }
}

void Expected::update(SumOrder order) {
  after = std::make_unique<Machine>(*before);
  if (parts() > 1)
    writeGradients(*after, [&](size_t number) {
      std::vector<Slices> ofParts;
      for (const std::vector<Slices> &own : gradients)
        ofParts.push_back(own[number]);
      Slices sum;
      forEachStretch(ofParts, std::vector<int64_t>(ofParts.size(), 4),
                     [&](const Slices &stretch, int64_t elements) {
                       for (const Slice &part : stretch)
                         require(part.term != 0, "a gradient of the reference has no value");
                       const Slice value = sumOfParts(stretch, order);
                       append(sum, {value.term, value.offset, elements * 4});
                     });
      return sum;
    });
  after->run(proto::Segment::EPILOGUE);
  allConditions.insert(after->conditions.begin(), after->conditions.end());
  for (const proto::Tensor &tensor : reference.program.tensors())
    after->forEachPart(reference.program.buffers(int(tensor.buffer())), tensor.start(),
                       elementsOf(tensor.shape()), 0,
                       [&](proto::Tier tier, int64_t place, int64_t, int64_t size) {
                         states[tensor.name()] = after->arena(0, tier).read(place, size);
                       });
}

Slices Expected::outputOf(const proto::Output &output) const {
  for (const proto::Output &own : reference.program.outputs())
    if (own.name() == output.name()) {
      require(own.dtype() == output.dtype() &&
                  std::equal(own.shape().begin(), own.shape().end(), output.shape().begin(),
                             output.shape().end()),
              "output '" + own.name() + "' has another type or shape than in the reference");
      return after->arena(0).read(int64_t(own.offset()),
                                  int64_t(elementsOf(own.shape()) * bytesOf(own.dtype())));
    }
  throw Refusal("output '" + output.name() + "' is not in the reference");
}

} // namespace zero::check
