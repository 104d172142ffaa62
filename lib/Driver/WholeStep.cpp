//===- WholeStep.cpp - flags for a model with its own update --------------===//

#include "WholeStep.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Optimizers/Definition.h"

using namespace mlir;

namespace zero {

/// Flags without effect on a whole step, and why.
static constexpr std::pair<StringLiteral, StringLiteral> kRefused[] = {
    {"optimizer", "the model has its own update"},
    {"no-decay", "the model has its own update"},
    {"param-group", "the model has its own update"},
    {"lr-schedule", "the model has its own update"},
    {"warmup-steps", "the model has its own update"},
    {"total-steps", "the model has its own update"},
    {"min-lr-ratio", "the model has its own update"},
    {"precision", "the model has its own gradients, whose types are in its graph"},
    {"frozen-precision", "the model has its own gradients, whose types are in its graph"},
    {"loss-scale", "the model has its own gradients, whose types are in its graph"},
    {"trainable", "the model trains what it carries"},
    {"freeze", "the model trains what it carries"},
    {"freeze-all-but", "the model trains what it carries"},
    {"tile-params-over", "the model has its own gradients, of whole parameters"},
};

/// The same where the nodes of the backward pass are in the graph, and not a node that stands for
/// it.
static constexpr std::pair<StringLiteral, StringLiteral> kRefusedWithBackward[] = {
    {"loss-mean", "the model computes the gradient of its own mean"},
    {"sync-batchnorm", "the model has its own gradients"},
};

static InFlightDiagnostic refuse(ModuleOp module, const GivenFlag &flag, StringRef why) {
  return module.emitError() << flag.key << (flag.value.empty() ? "" : "=" + flag.value)
                            << " has no effect on a whole training step: " << why;
}

LogicalResult checkWholeStep(ModuleOp module, const CompilerOptions &options) {
  if (!module->hasAttr(kWholeStepAttr))
    return success();
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  auto check = [&](ArrayRef<std::pair<StringLiteral, StringLiteral>> flags) -> LogicalResult {
    for (auto [name, why] : flags)
      if (auto it = options.given.find(name); it != options.given.end())
        return refuse(module, it->second, why);
    return success();
  };
  if (failed(check(kRefused)) || (!hasTrainingNodes(*step) && failed(check(kRefusedWithBackward))))
    return failure();
  for (const OptimizerFlag &flag : optimizerFlags())
    if (auto it = options.given.find(flag.name); it != options.given.end())
      return refuse(module, it->second, "the model has its own update");
  return success();
}

LogicalResult checkLearningRate(ModuleOp module, const CompilerOptions &options) {
  auto rate = options.given.find("lr");
  if (!module->hasAttr(kWholeStepAttr) || rate == options.given.end())
    return success();
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  for (unsigned i = 0; i < step->getNumArguments(); ++i)
    if (argumentBinding(*step, i) == kLearningRate)
      return success();
  return refuse(module, rate->second,
                "its learning rate is a constant of the graph; only an input of one float that "
                "nothing but the update reads can be set");
}

} // namespace zero
