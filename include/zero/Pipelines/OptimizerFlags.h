//===- OptimizerFlags.h - flags of all optimizers ---------------*- C++ -*-===//
// An option for each hyperparameter of any optimizer's definition.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PIPELINES_OPTIMIZERFLAGS_H
#define ZERO_PIPELINES_OPTIMIZERFLAGS_H

#include "zero/Optimizers/Definition.h"

#include "zero/Pipelines/Options/Group.h"

namespace zero {

class OptimizerFlags {
public:
  /// Adds the options to `parent`, which must outlive this.
  explicit OptimizerFlags(mlir::detail::PassOptions &parent);

  /// The given options, whether they belong to `optimizer` or not.
  OptimizerOptions optionsOf(llvm::StringRef optimizer) const;

private:
  using Switch = phase::Group::Option<bool>;
  using Numbers = phase::Group::ListOption<double>;
  using Word = phase::Group::Option<std::string>;

  llvm::SmallVector<std::pair<llvm::StringRef, std::unique_ptr<Switch>>> switches;
  llvm::SmallVector<std::pair<llvm::StringRef, std::unique_ptr<Numbers>>> numbers;
  llvm::SmallVector<std::pair<llvm::StringRef, std::unique_ptr<Word>>> words;
};

} // namespace zero

#endif // ZERO_PIPELINES_OPTIMIZERFLAGS_H
