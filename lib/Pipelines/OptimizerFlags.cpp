//===- OptimizerFlags.cpp - flags of all optimizers -----------------------===//

#include "zero/Pipelines/OptimizerFlags.h"

using namespace mlir;

namespace zero {

OptimizerFlags::OptimizerFlags(mlir::detail::PassOptions &parent) {
  for (const OptimizerFlag &flag : optimizerFlags()) {
    llvm::cl::desc help(flag.help);
    phase::About about = phase::ofStep(needs::hyperparameter);
    if (flag.name == kWeightDecay)
      about = std::move(about).inShort("Optimizer", "weight decay (0)");
    if (flag.isSwitch)
      switches.emplace_back(flag.name, std::make_unique<Switch>(parent, flag.name, about, help));
    else if (flag.isWord)
      words.emplace_back(flag.name, std::make_unique<Word>(parent, flag.name, about, help,
                                                           llvm::cl::value_desc(flag.valueName)));
    else
      numbers.emplace_back(flag.name,
                           std::make_unique<Numbers>(parent, flag.name, about, help,
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
  for (auto &[name, given] : words)
    if (given->hasValue())
      options.words[name.str()] = given->getValue();
  return options;
}

} // namespace zero
