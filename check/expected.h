//===- expected.h - what a program has to compute ---------------*- C++ -*-===//
// The reference's gradients, with the inputs of each rank's part of each micro-batch, and the step
// that follows from their mean.
//===----------------------------------------------------------------------===//

#ifndef CHECK_EXPECTED_H
#define CHECK_EXPECTED_H

#include "check/machine.h"

#include <memory>

namespace zero::check {

/// Which sums come first, those over ranks or those over micro-batches.
enum class SumOrder { RanksFirst, MicroBatchesFirst };

/// What the sum of a part's losses is divided by: its own 'loss_weight' (the number of its labels),
/// or the mean of those of all parts.
enum class LossWeight { OfPart, OfAll };

class Expected {
public:
  /// `executable` says how many ranks and micro-batches there are, and the order of sums.
  Expected(const Executable &reference, const std::vector<int64_t> &kernelNumbers,
           const Executable &executable, Terms &terms, Kernels &kernels);

  /// The weight of the losses of `rank`, 0 if there are none or several.
  Term weightOf(int rank, LossWeight kind);
  /// Executes the reference up to the gradients, with weights of that kind.
  void run(LossWeight kind);
  /// Updates the states with the mean of all gradients, summed in `order`.
  void update(SumOrder order);

  /// Bytes [start, start + size) of a state after the update.
  Slices stateOf(const std::string &name, int64_t start, int64_t size) const {
    return sliceOf(states.at(name), start, size);
  }
  /// What the reference's output of the same name, type and shape is after the update of part 0.
  Slices outputOf(const proto::Output &output) const;
  Slice loss() const { return meanLoss; }
  Slice localLoss(int rank) const { return localLosses[size_t(rank)]; }
  const std::set<Condition> &conditions() const { return allConditions; }
  const std::string &seed() const { return seedText; }

private:
  std::unique_ptr<Machine> execute() const;
  std::string nameOfPart(int part) const;
  Slices outputOf(const Machine &machine, const std::string &name) const;
  std::vector<Slices> gradientsOf(const Machine &machine) const;
  void scaleSeed(const std::vector<Slices> &gradients, Term loss);
  void expectOnlyGradientsUsed();
  void writeGradients(Machine &machine, const std::function<Slices(size_t)> &gradient) const;
  Slice sumOfParts(const Slices &parts, SumOrder order);
  Slice meanOfParts(const Slices &parts);
  Slice overMicroBatches(const Slice *parts, float factor);

  int parts() const { return ranks * microBatches; }

  const Executable &reference;
  const std::vector<int64_t> &kernelNumbers;
  const Executable &executable;
  Terms &terms;
  Kernels &kernels;
  int ranks, microBatches;
  std::vector<int> members;
  std::vector<Term> weights; ///< of each part, rank by rank
  std::map<Term, Term> replacements;
  std::vector<std::vector<Slices>> gradients; ///< of each part, in the order of the table
  std::vector<Slice> localLosses;
  Slice meanLoss;
  std::set<Condition> allConditions;
  std::string seedText;
  std::unique_ptr<Machine> before, after; ///< the update
  std::unordered_map<std::string, Slices> states;
};

} // namespace zero::check

#endif // CHECK_EXPECTED_H
