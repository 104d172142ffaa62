//===- WholeStep.cpp - flags for a model with its own gradients -----------===//

#include "WholeStep.h"

#include "dialects/Zero/ExporterAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Optimizers/Definition.h"

using namespace mlir;

namespace zero {

using Refused = std::pair<StringLiteral, StringLiteral>;

/// Flags without effect on a model that has its own update, and why.
static constexpr Refused kOfUpdates[] = {
    {"optimizer", "the model has its own update"},
    {"no-decay", "the model has its own update"},
    {"param-group", "the model has its own update"},
    {"lr-schedule", "the model has its own update"},
    {"warmup-steps", "the model has its own update"},
    {"total-steps", "the model has its own update"},
    {"min-lr-ratio", "the model has its own update"},
    {"warmup-form", "the model has its own update"},
    {"warmup-ratio", "the model has its own update"},
    {"lr-power", "the model has its own update"},
    {"lr-cycles", "the model has its own update"},
    {"decay-steps", "the model has its own update"},
    {"decay-form", "the model has its own update"},
    {"lr-points", "the model has its own update"},
    {"ema", "the model has its own update"},
    {"skip-above", "the model has its own update"},
    {"skip-spikes", "the model has its own update"},
    {"trainable", "the model trains what it carries"},
    {"freeze", "the model trains what it carries"},
    {"freeze-all-but", "the model trains what it carries"},
};

/// The same of a model that has its own gradients but no update.
static constexpr Refused kOfTrained[] = {
    {"trainable", "the model returns the gradients of what it trains"},
    {"freeze", "the model returns the gradients of what it trains"},
    {"freeze-all-but", "the model returns the gradients of what it trains"},
};

/// The same of both.
static constexpr Refused kOfGradients[] = {
    {"precision", "the model has its own gradients, whose types are in its graph"},
    {"frozen-precision", "the model has its own gradients, whose types are in its graph"},
    {"loss-scale", "the model has its own gradients, whose types are in its graph"},
    {"tile-params-over", "the model has its own gradients, of whole parameters"},
};

/// The same where the nodes of the backward pass are in the graph, and not a node that stands for
/// it.
static constexpr Refused kOfBackward[] = {
    {"loss-mean", "the model computes the gradient of its own mean"},
    {"sync-batchnorm", "the model has its own gradients"},
};

static InFlightDiagnostic refuse(ModuleOp module, const GivenFlag &flag, StringRef why) {
  StringRef what = module->hasAttr(kWholeStepAttr) ? "a whole training step" : "a joint graph";
  return emitError(UnknownLoc::get(module.getContext()))
         << flag.key << (flag.value.empty() ? "" : "=" + flag.value) << " has no effect on " << what
         << ": " << why;
}

static LogicalResult check(ModuleOp module, const CompilerOptions &options,
                           ArrayRef<Refused> flags) {
  for (auto [name, why] : flags)
    if (auto it = options.given.find(name); it != options.given.end())
      return refuse(module, it->second, why);
  return success();
}

/// A constant that zero-select-parameters makes a parameter, in place of `parameter`.
static void makeConstant(ParameterOp parameter) {
  OpBuilder builder(parameter);
  auto state =
      StateOp::create(builder, parameter.getLoc(), Role::Constant, parameter.getSymName(),
                      FlatSymbolRefAttr(), parameter.getTensorType(), parameter.getDataAttr(),
                      parameter.getSplatAttr(), parameter.getRequired(), parameter.getRandomAttr());
  state->setDiscardableAttrs(parameter->getDiscardableAttrDictionary());
  state->setAttr(kExportedAsAttr, builder.getStringAttr("parameter"));
  parameter.erase();
}

LogicalResult keepForward(ModuleOp module, const CompilerOptions &options) {
  if (!module->hasAttr(kOwnGradientsAttr) || options.phases.adapters.targets.empty())
    return success();
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  for (auto gradient : llvm::make_early_inc_range(step->getOps<GradientOp>()))
    gradient.erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step->front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (auto parameter : llvm::make_early_inc_range(module.getOps<ParameterOp>()))
    makeConstant(parameter);
  module->removeAttr(kOwnGradientsAttr);
  return success();
}

LogicalResult checkWholeStep(ModuleOp module, const CompilerOptions &options) {
  if (module->hasAttr(kOwnGradientsAttr)) {
    if (failed(check(module, options, kOfTrained)) ||
        failed(check(module, options, kOfGradients)) || failed(check(module, options, kOfBackward)))
      return failure();
    return success();
  }
  if (!module->hasAttr(kWholeStepAttr))
    return success();
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step) || failed(check(module, options, kOfUpdates)) ||
      failed(check(module, options, kOfGradients)) ||
      (!hasTrainingNodes(*step) && failed(check(module, options, kOfBackward))))
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
