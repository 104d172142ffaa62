//===- expected.h - what a program has to compute ---------------*- C++ -*-===//
// The reference's gradients, with the inputs of each micro-batch as functions of the rank, and the
// step that follows from their mean.
//===----------------------------------------------------------------------===//

#ifndef CHECK_EXPECTED_H
#define CHECK_EXPECTED_H

#include "check/machine.h"

#include <memory>

namespace zero::check {

class Expected {
public:
  /// `executable` says how many ranks and micro-batches there are, and the order of sums.
  Expected(const Executable &reference, const Executable &executable, Terms &terms,
           Kernels &kernels, bool gapsAreZero);

  /// What the sum of a part's losses is divided by: its own 'loss_weight' (the number of its
  /// labels), or the mean of those of all parts. kNone if there are none or several.
  Term weightOf(bool ofAll);
  /// Executes the reference up to the gradients, with the weights of all parts or of each.
  void run(bool weightOfAll);
  /// Updates the states with the mean of all gradients: of each parameter, or of `others`, whether
  /// over ranks first.
  void update(const std::map<std::string, bool> &ranksFirst, bool others);

  /// A state after the update.
  const Slices &stateOf(const std::string &name) const { return states.at(name); }
  /// What the reference's output of the same name, type and shape is after the update.
  Slices outputOf(const proto::Output &output) const;
  /// The number of parts of the batch: ranks that have one, times micro-batches.
  int parts() const { return int(levels.count) * microBatches; }

  Slice loss, localLoss;
  std::set<Condition> conditions;
  std::string seed;         ///< what backward begins with, for people
  bool hasAverages = false; ///< whether running statistics are averaged over ranks

private:
  void execute();
  void keepStatistics();
  Slices outputOf(const Machine &machine, const std::string &name) const;
  /// Bytes of the reference.
  struct Range {
    proto::Tier tier;
    int64_t begin, size;
    /// As a function of the coordinates.
    Slices read(const Machine &machine) const;
    void write(Machine &machine, const Slices &values) const {
      machine.arena(tier).write(begin, values, -1);
    }
  };
  Range rangeOf(const proto::Buffer &buffer, uint64_t start, uint64_t elements) const;
  Range rangeOf(const proto::Tensor &tensor) const;
  Range rangeOf(const proto::Gradient &gradient) const;
  void scaleSeed(const std::vector<Slices> &gradients, Term loss);
  void expectOnlyGradientsUsed();
  Slice overParts(const Slices &parts, SumType type, bool ranksFirst);
  Slice overMicroBatches(const Slices &parts, float factor);

  const Executable &reference;
  Terms &terms;
  Kernels &kernels;
  bool gapsAreZero;
  int microBatches;
  Levels levels;           ///< over which gradients are added
  uint32_t dataAxes, axes; ///< over which the batch is cut, and all, if they have several ranks
  std::map<Term, Term> replacements;
  // Of each micro-batch:
  Slices weights, losses, ownLosses;
  std::vector<std::vector<Slices>> gradients; ///< in the order of the table
  std::unique_ptr<Machine> before, after;     ///< the update
  std::unordered_map<std::string, Slices> states;
};

} // namespace zero::check

#endif // CHECK_EXPECTED_H
