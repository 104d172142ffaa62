//===- Optimizer.cpp - create optimizers from settings --------------------===//

#include "Optimizers.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace zero {

Optimizer::~Optimizer() = default;

std::string checkIterations(const Settings &settings, StringRef flag, double most) {
  const double given = settings.number(flag);
  return given <= most
             ? ""
             : (flag + ": expected at most " + number(most) + ", got " + number(given)).str();
}

std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

Hyperparameter weightDecayParameter() {
  return {kWeightDecay, Range::NotNegative, {0.0}, "weight decay"};
}

Hyperparameter betasParameter(double beta1, double beta2) {
  return {"betas", Range::BelowOne, {beta1, beta2}, "decay rates of the moments"};
}

Hyperparameter epsilonParameter(double value) {
  return {"eps", Range::NotNegative, {value}, "added to the denominator"};
}

std::string parseOtherOptimizer(StringRef text, OptimizerOptions &options) {
  auto [name, settings] = text.split(':');
  options.name = name.str();
  std::string separated = settings.str();
  llvm::replace(separated, ':', ' ');
  std::string wrong = options.parse(separated);
  if (!wrong.empty())
    return wrong;
  const std::unique_ptr<Optimizer> optimizer = createOptimizer(options, wrong);
  if (optimizer && !optimizer->isElementwise())
    return "expected an optimizer that updates each element by itself, got " + options.name;
  return wrong;
}

std::unique_ptr<Optimizer> createOptimizer(const OptimizerOptions &options, std::string &error) {
  error = options.check();
  return error.empty() ? findOptimizer(options.name)->create(Settings(options)) : nullptr;
}

} // namespace zero
