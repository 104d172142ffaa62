//===- proof.cpp - equality of a program and its reference ----------------===//

#include "check/proof.h"

#include "check/expected.h"
#include "check/order.h"
#include "check/refusal.h"
#include "check/support.h"

namespace zero::check {

namespace {
class Proof {
public:
  Proof(const std::string &reference, const std::string &program, bool upToOrder);
  std::string run();

private:
  void compare(const Expected &expected);
  void compareStates(const Expected &expected, int rank);
  void compareOutputs(const Expected &expected, int rank);
  void compareConditions(const Expected &expected);
  /// `rank` has to have `expected` in `size` bytes at `place`.
  void expectEqual(int rank, proto::Tier tier, int64_t place, int64_t size, const Slices &expected,
                   const std::string &what) const;
  std::string describe(Term term) const;
  LossWeight lossWeightOf(Expected &expected);
  std::string rules(const Expected &expected, LossWeight weight, bool bothSums,
                    SumOrder order) const;

  Executable reference, executable;
  Terms terms;
  Kernels kernels;
  std::vector<int64_t> referenceKernels, programKernels;
  std::unique_ptr<Machine> machine; ///< of the program
};
} // namespace

Proof::Proof(const std::string &referencePath, const std::string &programPath, bool upToOrder)
    : reference(readExecutable(referencePath)), executable(readExecutable(programPath)),
      terms(upToOrder) {
  expectSupported(reference);
  expectReference(reference);
  expectSupported(executable);
  expectSameModel(reference, executable);
  referenceKernels = kernels.add(reference);
  programKernels = kernels.add(executable);
}

std::string Proof::describe(Term term) const {
  return terms.describe(term, [&](int64_t kernel) { return kernels.nameOf(kernel); });
}

void Proof::expectEqual(int rank, proto::Tier tier, int64_t place, int64_t size,
                        const Slices &expected, const std::string &what) const {
  const Memory &arena = std::as_const(*machine).arena(rank, tier);
  const Slices found = arena.read(place, size);
  int64_t at = 0;
  for (size_t i = 0; i < std::max(found.size(), expected.size()); ++i) {
    const Slice some = i < found.size() ? found[i] : Slice();
    const Slice other = i < expected.size() ? expected[i] : Slice();
    if (some.term == other.term && some.offset == other.offset && some.size == other.size) {
      at += some.size;
      continue;
    }
    const auto [inner, innerExpected] = terms.difference(some.term, other.term);
    std::string text =
        "rank " + std::to_string(rank) + ": " + what + " from byte " + std::to_string(at) +
        " on, from " + machine->describe(arena.writerOf(place + at)) + ": expected bytes " +
        std::to_string(other.offset) + " to " + std::to_string(other.offset + other.size) + " of " +
        describe(other.term) + ", got bytes " + std::to_string(some.offset) + " to " +
        std::to_string(some.offset + some.size) + " of " + describe(some.term);
    if (inner != some.term)
      text +=
          "\n  the difference: expected " + describe(innerExpected) + ", got " + describe(inner);
    throw Refusal(text);
  }
}

void Proof::compareStates(const Expected &expected, int rank) {
  for (const proto::Tensor &tensor : executable.program.tensors()) {
    const bool isConstant = tensor.role() == proto::CONSTANT; // and still is when the step ends
    const uint64_t elements = elementsOf(tensor.shape());
    const proto::Buffer &buffer = executable.program.buffers(int(tensor.buffer()));
    machine->forEachPart(buffer, tensor.start(), elements, rank,
                         [&](proto::Tier tier, int64_t place, int64_t start, int64_t size) {
                           expectEqual(rank, tier, place, size,
                                       isConstant ? Slices{{machine->valueOf(tensor), start, size}}
                                                  : expected.stateOf(tensor.name(), start, size),
                                       "state '" + tensor.name() + "', bytes " +
                                           std::to_string(start) + " to " +
                                           std::to_string(start + size));
                         });
  }
}

/// All outputs but 'loss_weight', by which the rule of the losses was chosen.
void Proof::compareOutputs(const Expected &expected, int rank) {
  bool hasLoss = false;
  for (const proto::Output &output : executable.program.outputs()) {
    const int64_t size = int64_t(elementsOf(output.shape()) * bytesOf(output.dtype()));
    Slices values = expected.outputOf(output);
    if (output.name() == "loss")
      values = {expected.loss()};
    else if (output.name() == "local_loss")
      values = {expected.localLoss(rank)};
    else if (output.name() == "loss_weight")
      continue;
    if (values.size() == 1)
      values[0].size = size;
    expectEqual(rank, proto::DEVICE, int64_t(output.offset()), size, values,
                "output '" + output.name() + "'");
    hasLoss |= output.name() == "loss";
  }
  require(hasLoss, "the program has no loss");
}

void Proof::compareConditions(const Expected &expected) {
  auto contains = [&](const std::set<Condition> &some, const std::set<Condition> &others,
                      const std::string &message) {
    for (const Condition &condition : some)
      require(others.count(condition) > 0, message + describe(std::get<0>(condition)));
  };
  contains(machine->conditions, expected.conditions(),
           "a check that the reference does not make, of ");
  contains(expected.conditions(), machine->conditions, "a check of the reference is missing, of ");
}

void Proof::compare(const Expected &expected) {
  for (int rank = 0; rank < executable.ranks(); ++rank) {
    compareStates(expected, rank);
    compareOutputs(expected, rank);
  }
  compareConditions(expected);
}

/// Which weight the program's output 'loss_weight' is, on all ranks.
LossWeight Proof::lossWeightOf(Expected &expected) {
  for (const proto::Output &output : executable.program.outputs()) {
    if (output.name() != "loss_weight")
      continue;
    for (LossWeight kind : {LossWeight::OfAll, LossWeight::OfPart}) {
      int equal = 0;
      for (int rank = 0; rank < executable.ranks(); ++rank) {
        const Slices found = machine->arena(rank).read(int64_t(output.offset()), 4);
        equal += found.size() == 1 && found[0].term != 0 && found[0].offset == 0 &&
                 found[0].term == expected.weightOf(rank, kind);
      }
      if (equal == executable.ranks())
        return kind;
    }
    throw Refusal(
        "output 'loss_weight' is neither that of a rank's batch nor the mean of all ranks and "
        "micro-batches");
  }
  return LossWeight::OfPart;
}

std::string Proof::run() {
  machine = std::make_unique<Machine>(
      executable, programKernels, terms, kernels, [&](int rank, int microBatch) {
        return "rank " + std::to_string(executable.dataIndexOf(rank)) + ", micro-batch " +
               std::to_string(microBatch);
      });
  expectOrdered(executable, [&](int32_t command) { return machine->describe(command); });
  machine->begin();
  for (auto kind :
       {proto::Segment::PROLOGUE, proto::Segment::MICRO_BATCH, proto::Segment::EPILOGUE})
    machine->run(kind);
  Expected expected(reference, referenceKernels, executable, terms, kernels);
  const LossWeight weight = lossWeightOf(expected);
  expected.run(weight);
  const bool bothSums = executable.ranks() > 1 && executable.program.micro_batches() > 1;
  SumOrder order = SumOrder::RanksFirst;
  expected.update(order);
  try {
    compare(expected);
  } catch (const Refusal &) {
    if (!bothSums)
      throw;
    order = SumOrder::MicroBatchesFirst;
    expected.update(order);
    compare(expected);
  }
  return rules(expected, weight, bothSums, order);
}

std::string Proof::rules(const Expected &expected, LossWeight weight, bool bothSums,
                         SumOrder order) const {
  const int ranks = executable.ranks();
  const auto microBatches = std::max(1u, executable.program.micro_batches());
  int states = 0;
  for (const proto::Tensor &tensor : executable.program.tensors())
    states += tensor.role() != proto::CONSTANT;
  std::string text = "proven: " + std::to_string(states) + " states and the loss, on " +
                     std::to_string(ranks) + (ranks == 1 ? " rank, " : " ranks, ") +
                     std::to_string(microBatches) +
                     (microBatches == 1 ? " micro-batch, " : " micro-batches, ") +
                     std::to_string(terms.size()) + " terms\nrules:\n";
  static const std::map<Meaning::Form, std::string> forms = {{Meaning::Element, "element-wise"},
                                                             {Meaning::Copy, "copy"},
                                                             {Meaning::Add, "sum"},
                                                             {Meaning::Scale, "scale"},
                                                             {Meaning::AddScaled, "sum of scaled"}};
  for (const auto &[form, names] : kernels.namesByForm())
    text += "  " + forms.at(form) + " (by samples): " + names + "\n";
  if (!expected.seed().empty())
    text += "  gradients are linear in what backward begins with: " + expected.seed() + "\n";
  if (weight != LossWeight::OfPart && ranks * int(microBatches) > 1)
    text += "  losses are divided by the mean of 'loss_weight' over ranks and micro-batches\n";
  if (ranks * int(microBatches) > 1)
    text += terms.isUpToOrder() ? "  sums in any order\n"
            : !bothSums         ? "  sums in the order of ranks or micro-batches\n"
            : order == SumOrder::RanksFirst
                ? "  sums over ranks, then over micro-batches, each in order\n"
                : "  sums over micro-batches, then over ranks, each in order\n";
  return text;
}

std::string prove(const std::string &reference, const std::string &program, bool upToOrder) {
  return Proof(reference, program, upToOrder).run();
}

} // namespace zero::check
