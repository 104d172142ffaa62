//===- proof.cpp - equality of a program and its reference ----------------===//

#include "check/proof.h"

#include "check/expected.h"

namespace zero::check {

namespace {
class Proof {
public:
  Proof(Executable &reference, Executable &executable, bool upToOrder, bool gapsAreZero);
  std::string run();

private:
  void compare(const Expected &expected);
  int ranksToCompare(proto::Tier tier, uint64_t begin, uint64_t size) const;
  void compareBuffer(const Expected &expected, uint32_t number) const;
  void compareOutputs(const Expected &expected);
  /// `rank` has to have `expected` at `place`.
  void expectEqual(int rank, proto::Tier tier, int64_t place, const Slices &expected,
                   const std::string &what) const;
  std::string describe(Term term) const;
  bool usesWeightOfAll(Expected &expected) const;
  std::map<std::string, bool> ordersOfSums() const;
  std::string rules(const Expected &expected, bool weightOfAll) const;

  const Executable &reference, &executable;
  Terms terms;
  bool gapsAreZero;
  Kernels kernels;
  std::unique_ptr<Machine> machine; ///< of the program
};
} // namespace

Proof::Proof(Executable &reference, Executable &executable, bool upToOrder, bool gapsAreZero)
    : reference(reference), executable(executable), terms(upToOrder), gapsAreZero(gapsAreZero) {
  expectSupported(reference);
  expectSupported(executable);
  expectReference(reference.program, executable.program);
  expectSameModel(reference, executable);
  kernels.add(reference);
  kernels.add(executable);
}

std::string Proof::describe(Term term) const {
  return terms.describe(term, [&](int64_t kernel) { return kernels.nameOf(kernel); });
}

void Proof::expectEqual(int rank, proto::Tier tier, int64_t place, const Slices &expected,
                        const std::string &what) const {
  const Memory &arena = std::as_const(*machine).arena(tier);
  const Slices found = arena.readOn(rank, place, sizeOf(expected));
  int64_t at = 0;
  for (size_t i = 0; i < std::max(found.size(), expected.size()); ++i) {
    const Slice some = i < found.size() ? found[i] : Slice();
    const Slice other = i < expected.size() ? expected[i] : Slice();
    if (some == other) {
      at += some.size;
      continue;
    }
    const auto [inner, innerExpected] = terms.difference(some.term, other.term);
    auto bytesOf = [&](const Slice &slice) {
      return "bytes " + std::to_string(slice.offset) + " to " +
             std::to_string(slice.offset + slice.size) + " of " + describe(slice.term);
    };
    std::string text = "rank " + std::to_string(rank) + ": " + what + " from byte " +
                       std::to_string(at) + " on, from " +
                       machine->describe(arena.writerOf(place + at)) + ": expected " +
                       bytesOf(other) + ", got " + bytesOf(some);
    if (inner != some.term)
      text +=
          "\n  the difference: expected " + describe(innerExpected) + ", got " + describe(inner);
    throw Refusal(text);
  }
}

/// The ranks on which something may be different in these bytes: one, if it is the same on all.
int Proof::ranksToCompare(proto::Tier tier, uint64_t begin, uint64_t size) const {
  const Memory &arena = std::as_const(*machine).arena(tier);
  return arena.read(int64_t(begin), int64_t(size)).isAlike() ? 1 : executable.ranks();
}

/// Tensors, and gaps between them: if those are 0 when a step begins they must be so when it ends.
void Proof::compareBuffer(const Expected &expected, uint32_t number) const {
  const proto::Buffer &buffer = executable.program.buffers(int(number));
  const int64_t bytes = int64_t(buffer.elements() * bytesOf(buffer.dtype()));
  const int ranks = buffer.shards() > 1 || buffer.rank_strides_size() > 0
                        ? executable.ranks()
                        : ranksToCompare(buffer.tier(), buffer.offset(), uint64_t(bytes));
  int64_t at = 0;
  machine->forEachContent(number, [&](const proto::Tensor *tensor, int64_t size) {
    // A constant still is what it was when the step ends.
    const bool isState = tensor && tensor->role() != proto::CONSTANT;
    const Slices all = isState  ? expected.stateOf(tensor->name())
                       : tensor ? Slices{{machine->valueOf(*tensor), 0, size}}
                                : Slices{{kZero, 0, size}};
    for (int rank = 0; (tensor || gapsAreZero) && rank < ranks; ++rank) {
      const int64_t first = executable.sliceOf(buffer, rank) * bytes;
      const int64_t from = std::max(at, first), to = std::min(at + size, first + bytes);
      const int64_t place = executable.placeOf(buffer.offset(), buffer.rank_strides(), rank);
      if (from < to)
        expectEqual(rank, buffer.tier(), place + from - first, sliceOf(all, from - at, to - from),
                    (tensor ? "state '" + tensor->name() : "a gap of '" + buffer.name()) +
                        "', bytes " + std::to_string(from - at) + " to " + std::to_string(to - at));
    }
    at += size;
  });
}

/// All outputs but 'loss_weight', by which the rule of the losses was chosen.
void Proof::compareOutputs(const Expected &expected) {
  bool hasLoss = false;
  for (const proto::Output &output : executable.program.outputs()) {
    const int64_t size = int64_t(elementsOf(output.shape()) * bytesOf(output.dtype()));
    Slices values = expected.outputOf(output);
    if (output.name() == "loss")
      values = {expected.loss};
    else if (output.name() == "local_loss")
      values = {expected.localLoss};
    else if (output.name() == "loss_weight")
      continue;
    if (values.size() == 1)
      values[0].size = size;
    const int ranks = ranksToCompare(proto::DEVICE, output.offset(), uint64_t(size));
    for (int rank = 0; rank < ranks; ++rank)
      expectEqual(rank, proto::DEVICE, int64_t(output.offset()), values,
                  "output '" + output.name() + "'");
    hasLoss |= output.name() == "loss";
  }
  require(hasLoss, "the program has no loss");
}

void Proof::compare(const Expected &expected) {
  for (int number = 0; number < executable.program.buffers_size(); ++number)
    compareBuffer(expected, uint32_t(number));
  compareOutputs(expected);
  for (const Condition &condition : machine->conditions)
    require(expected.conditions.count(condition) > 0,
            "a check that the reference does not make, of " + describe(std::get<0>(condition)));
  for (const Condition &condition : expected.conditions)
    require(machine->conditions.count(condition) > 0,
            "a check of the reference is missing, of " + describe(std::get<0>(condition)));
}

/// Whether losses are divided by the mean of all weights: which the output 'loss_weight' says.
bool Proof::usesWeightOfAll(Expected &expected) const {
  for (const proto::Output &output : executable.program.outputs()) {
    if (output.name() != "loss_weight")
      continue;
    const Value found = machine->arena().read(int64_t(output.offset()), 4);
    for (bool ofAll : {true, false})
      if (const Term weight = expected.weightOf(ofAll);
          weight != kNone && found.isAlike() && found.on(0) == Slices{{weight, 0, 4}})
        return ofAll;
    throw Refusal(
        "output 'loss_weight' is neither that of a rank's batch nor the mean of all ranks "
        "and micro-batches");
  }
  return false;
}

/// Which order to try: of gradients of the table, whether the first element is a sum over ranks
/// first.
std::map<std::string, bool> Proof::ordersOfSums() const {
  std::map<std::string, bool> ranksFirst;
  for (const proto::Gradient &gradient : executable.program.gradients()) {
    const proto::Buffer &buffer = gradient.buffer();
    const int64_t width = int64_t(bytesOf(buffer.dtype())), elements = int64_t(buffer.elements());
    const std::string &name = gradient.parameter();
    for (int rank = 0; rank < executable.ranks() && !ranksFirst.contains(name); ++rank) {
      const int64_t first = int64_t(gradient.start()) - executable.sliceOf(buffer, rank) * elements;
      if (first < 0 || first >= elements)
        continue;
      const int64_t place = executable.placeOf(buffer.offset(), buffer.rank_strides(), rank);
      const Slice found = machine->arena(buffer.tier()).readOn(rank, place + first * width, 1)[0];
      ranksFirst[name] = terms.kindOf(found.term) != Kind::Over;
    }
  }
  return ranksFirst;
}

std::string Proof::run() {
  machine = std::make_unique<Machine>(executable, terms, kernels,
                                      setOf(executable.program.data_axes()), gapsAreZero);
  machine->begin();
  machine->writeInputs();
  machine->run(proto::Segment::PROLOGUE);
  machine->run(proto::Segment::MICRO_BATCH);
  const std::map<std::string, bool> ranksFirst = ordersOfSums();
  machine->run(proto::Segment::EPILOGUE);
  machine->run(proto::Segment::MICRO_BATCH, /*delayed=*/true);
  Expected expected(reference, executable, terms, kernels, gapsAreZero);
  const bool weightOfAll = usesWeightOfAll(expected);
  expected.run(weightOfAll);
  // Of other parameters, whose gradients are gone, the order is not known.
  try {
    expected.update(ranksFirst, true);
    compare(expected);
  } catch (const Refusal &) {
    expected.update(ranksFirst, false);
    compare(expected);
  }
  return rules(expected, weightOfAll);
}

static std::string counted(int64_t number, const std::string &what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : what.back() == 'h' ? "es" : "s");
}

std::string Proof::rules(const Expected &expected, bool weightOfAll) const {
  const int64_t microBatches = std::max(1u, executable.program.micro_batches());
  const bool several = expected.parts() > 1;
  const proto::Program &program = executable.program;
  int64_t states = 0;
  for (const proto::Tensor &tensor : program.tensors())
    states += tensor.role() != proto::CONSTANT;
  std::string text = "proven: " + counted(states, "state") + " and the loss, on " +
                     counted(executable.ranks(), "rank") + ", " +
                     counted(microBatches, "micro-batch") + ", " +
                     counted(int64_t(terms.size()), "term") + "\nrules:\n";
  auto add = [&](bool used, const std::string &rule) { text += used ? "  " + rule + "\n" : ""; };
  for (const auto &[form, names] : kernels.namesByForm())
    add(true, form + " (by samples): " + names);
  add(several, "gradients are linear in what backward begins with: " + expected.seed);
  add(expected.hasAverages,
      "running statistics are those of each rank's micro-batches in order, averaged");
  for (int i = 0; i < program.mesh_size(); ++i)
    add(program.mesh(i).size() > 1 && !(setOf(partAxes(reference.program, program)) >> i & 1),
        "ranks along '" + program.mesh(i).name() + "' divide the model as those of the reference");
  add(program.predicates_size() > 0, "conditional commands keep what was, or replace it");
  add(terms.addsZeros, "adding 0 changes nothing but the sign of a zero");
  add(gapsAreZero, "gaps of buffers are 0, and stay so");
  add(weightOfAll && several,
      "losses are divided by the mean of 'loss_weight' over ranks and micro-batches");
  add(several, terms.upToOrder ? "sums in any order"
                               : "sums over ranks in order, of sums over micro-batches in order "
                                 "or the other way round");
  return text;
}

static std::string prove(Executable &reference, Executable &program, bool upToOrder) {
  try {
    return Proof(reference, program, upToOrder, false).run();
  } catch (const Refusal &refusal) {
    try {
      return Proof(reference, program, upToOrder, true).run();
    } catch (const Refusal &) {
      throw refusal; // the first reason is the better one
    }
  }
}

std::string prove(const std::string &reference, const std::string &program, bool upToOrder) {
  std::vector<Executable> references = readExecutable(reference);
  std::vector<Executable> programs = readExecutable(program);
  require(references.size() == programs.size(),
          "expected programs for " + counted(int64_t(references.size()), "shape") +
              " of the inputs, as in the reference, got " + std::to_string(programs.size()));
  std::string text;
  for (size_t i = 0; i < programs.size(); ++i)
    text += prove(references[i], programs[i], upToOrder);
  return text;
}

} // namespace zero::check
