//===- Optimizer.cpp - kernels from optimizers ----------------------------===//

#include "zero/Optimizers/Optimizer.h"

#include "Optimizers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace zero {

Optimizer::~Optimizer() = default;

std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

static std::string checkOptions(const OptimizerOptions &options) {
  auto inUnit = [](double beta) { return beta >= 0 && beta < 1; };
  if (!inUnit(options.beta1) || !inUnit(options.beta2))
    return "expected betas in [0, 1), got " + number(options.beta1) + "," + number(options.beta2);
  if (!(options.epsilon >= 0))
    return "expected eps >= 0, got " + number(options.epsilon);
  if (!(options.weightDecay >= 0))
    return "expected a weight decay >= 0, got " + number(options.weightDecay);
  if (!(options.momentum >= 0))
    return "expected a momentum >= 0, got " + number(options.momentum);
  bool hasSgdOption = options.momentum != 0 || options.dampening != 0 || options.nesterov;
  if (!StringRef(options.name).equals_insensitive("sgd") && hasSgdOption)
    return "momentum, dampening and nesterov are options of sgd, got '" + options.name + "'";
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    return "nesterov needs a momentum and no dampening";
  return "";
}

std::unique_ptr<Optimizer> createOptimizer(const OptimizerOptions &options, std::string &error) {
  using Create = std::unique_ptr<Optimizer> (*)(const OptimizerOptions &);
  auto create = llvm::StringSwitch<Create>(StringRef(options.name).lower())
                    .Case("sgd", createSgd)
                    .Case("adam", [](const OptimizerOptions &o) { return createAdam(o, false); })
                    .Case("adamw", [](const OptimizerOptions &o) { return createAdam(o, true); })
                    .Case("lamb", createLamb)
                    .Case("lion", createLion)
                    .Default(nullptr);
  if (!create) {
    error = "unknown optimizer '" + options.name + "', expected sgd, adam, adamw, lamb or lion";
    return nullptr;
  }
  error = checkOptions(options);
  return error.empty() ? create(options) : nullptr;
}

} // namespace zero
