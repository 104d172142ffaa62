//===- OptimizerFlags.cpp - flags of all optimizers -----------------------===//

#include "zero/Pipelines/OptimizerFlags.h"

using namespace mlir;

namespace zero {

OptimizerFlags::OptimizerFlags(mlir::detail::PassOptions &parent) {
  for (const OptimizerFlag &flag : optimizerFlags()) {
    llvm::cl::desc help(flag.help);
    phase::AppliesIf conditions = phase::ofStep(needs::hyperparameter);
    if (flag.isSwitch)
      switches.emplace_back(flag.name,
                            std::make_unique<Switch>(parent, flag.name, conditions, help));
    else
      numbers.emplace_back(flag.name,
                           std::make_unique<Numbers>(parent, flag.name, conditions, help,
                                                     llvm::cl::value_desc(flag.valueName)));
  }
}

OptimizerOptions OptimizerFlags::optionsOf(StringRef optimizer) const {
  OptimizerOptions options{optimizer.str()};
  for (auto &[name, given] : switches)
    if (given->getValue())
      options.given[name.str()] = {1.0};
  for (auto &[name, given] : numbers)
    if (!given->empty())
      options.given[name.str()] = SmallVector<double, 2>(given->begin(), given->end());
  return options;
}

} // namespace zero
