//===- ParameterGroups.h - the update of each parameter ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_STEP_PARAMETERGROUPS_H
#define LIB_TRANSFORMS_STEP_PARAMETERGROUPS_H

#include "zero/Optimizers/Average.h"
#include "zero/Optimizers/Schedule.h"

#include "llvm/Support/GlobPattern.h"

namespace zero {

/// The optimizer of parameters that are no matrices, beside one of matrices.
struct OtherOptimizer {
  OptimizerOptions options;
  std::optional<double> weightDecay = {};
  double learningRateScale = 1; ///< on the learning rate of the one of matrices
};

/// Groups of parameters, each with its optimizer; the last one is of all that no
/// pattern names. Beside an optimizer of matrices, each group has another one.
class ParameterGroups {
public:
  /// Fails after an error at `module` when an optimizer's option or a pattern is wrong.
  static mlir::FailureOr<ParameterGroups>
  create(mlir::ModuleOp module, const OptimizerOptions &options, const OtherOptimizer &other,
         llvm::ArrayRef<ParameterGroup> groups, const std::optional<AverageOptions> &average);

  /// Whether matrices have an optimizer of their own.
  bool divides() const { return members.front()->isOfMatrices; }
  /// The number of the first group whose pattern matches one of a parameter's `names`, for matrices
  /// or for what is none.
  unsigned find(llvm::ArrayRef<llvm::StringRef> names, bool isMatrix);
  const Optimizer &optimizer(unsigned group) const { return *members[group]->optimizer; }
  llvm::SmallVector<GroupOptimizer> optimizers() const;
  /// The optimizers of parameters that no pattern names: "muon(...) and adamw(...)".
  std::string describe() const;
  /// Fails after an error at `module` when a pattern has met no name.
  llvm::LogicalResult checkUsed(mlir::ModuleOp module) const;

private:
  struct Member {
    std::string text;
    std::optional<llvm::GlobPattern> pattern;
    std::unique_ptr<Optimizer> optimizer;
    double learningRateScale = 1;
    std::optional<ScheduleOptions> schedule;
    bool isOfMatrices = false;
    bool isUsed = false;
  };
  llvm::LogicalResult add(mlir::ModuleOp module, const ParameterGroup &group,
                          OptimizerOptions options, double learningRateScale,
                          const std::optional<AverageOptions> &average);

  std::vector<std::unique_ptr<Member>> members;
};

} // namespace zero

#endif // LIB_TRANSFORMS_STEP_PARAMETERGROUPS_H
