//===- ParameterGroups.h - the update of each parameter ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_STEP_PARAMETERGROUPS_H
#define LIB_TRANSFORMS_STEP_PARAMETERGROUPS_H

#include "zero/Optimizers/Schedule.h"

#include "llvm/Support/GlobPattern.h"

namespace zero {

/// Groups of parameters, each with its optimizer; the last one is of all that no
/// pattern names.
class ParameterGroups {
public:
  /// Fails after an error at `module` when an optimizer's option or a pattern is wrong.
  static mlir::FailureOr<ParameterGroups> create(mlir::ModuleOp module,
                                                 const OptimizerOptions &options,
                                                 llvm::ArrayRef<ParameterGroup> groups);

  /// The number of the first group whose pattern matches one of a parameter's `names`.
  unsigned find(llvm::ArrayRef<llvm::StringRef> names);
  const Optimizer &optimizer(unsigned group) const { return *members[group]->optimizer; }
  llvm::SmallVector<GroupOptimizer> optimizers() const;
  /// Fails after an error at `module` when a pattern has met no name.
  llvm::LogicalResult checkUsed(mlir::ModuleOp module) const;

private:
  struct Member {
    std::string text;
    std::optional<llvm::GlobPattern> pattern;
    std::unique_ptr<Optimizer> optimizer;
    double learningRateScale = 1;
    bool isUsed = false;
  };
  std::vector<std::unique_ptr<Member>> members;
};

} // namespace zero

#endif // LIB_TRANSFORMS_STEP_PARAMETERGROUPS_H
