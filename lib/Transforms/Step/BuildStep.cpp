//===- BuildStep.cpp - add the optimizer to the program -------------------===//

#include "StepUpdates.h"
#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Step/Passes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_BUILDSTEP
#include "include/zero/Transforms/Step/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The sum of the weights of labels that `loss` is divided by, per rank and micro-batch; null if
/// there is none or there are several, or if each rank divides by its own.
static Value findWeight(Value loss) {
  Operation *last = loss.getDefiningOp();
  if (!last)
    return {};
  const llvm::DenseSet<Operation *> sources = findSources(last);
  llvm::SmallSetVector<Value, 2> weights;
  for (Operation *op : sources)
    if (auto node = dyn_cast<onnx::NodeOp>(op); node && node.is(own::LabelWeights))
      weights.insert(node.getResult(0));
  if (weights.size() != 1 || !isa<Float32Type, Float64Type>(getElementTypeOrSelf(weights[0])))
    return {};
  auto isMean = [&](Operation &op) {
    auto ranks = dyn_cast<RankMeanOp>(op);
    auto micro = ranks ? ranks.getInput().getDefiningOp<MicroMeanOp>() : MicroMeanOp();
    return ranks && sources.contains(&op) &&
           (micro ? micro.getInput() : ranks.getInput()) == weights[0];
  };
  Block &block = *last->getBlock();
  auto mean = llvm::find_if(block, isMean);
  return mean == block.end() ? Value() : mean->getResult(0);
}

/// Returns the mean loss over ranks as "loss" and the rank's own as "local_loss", and the divisor
/// of a loss over labels as "loss_weight".
static LogicalResult returnMeanLoss(func::FuncOp step) {
  FailureOr<Value> loss = findLoss(step);
  if (failed(loss))
    return failure();
  OpBuilder builder(step.getBody().front().getTerminator());
  Value own = *loss;
  // Over one micro-batch there is nothing to average: the type may be any.
  if (getElementTypeOrSelf(own.getType()).isF32())
    own = MicroMeanOp::create(builder, step.getLoc(), own);
  Value mean = RankMeanOp::create(builder, step.getLoc(), own.getType(), own);
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (resultBinding(step, i) == "loss")
      setResult(step, i, mean);
  addResult(step, own, "local_loss");
  if (Value weight = findWeight(*loss))
    addResult(step, weight, "loss_weight");
  return success();
}

namespace {
struct BuildStep : zero::impl::BuildStepBase<BuildStep> {
  using BuildStepBase::BuildStepBase;

  /// The groups as given, then those without weight decay.
  FailureOr<SmallVector<ParameterGroup>> parseGroups() {
    SmallVector<ParameterGroup> groups;
    for (const std::string &text : paramGroups) {
      std::string error;
      std::optional<ParameterGroup> group = parseParameterGroup(text, error);
      if (!group)
        return getOperation().emitError(error);
      groups.push_back(*group);
    }
    for (const std::string &pattern : noDecay)
      groups.push_back({pattern, 0.0});
    return groups;
  }

  /// The optimizer of what is no matrix. Its learning rate is a part of the one that a run has.
  FailureOr<OtherOptimizer> parseOther(ModuleOp module) {
    OtherOptimizer other;
    std::string error = parseOtherOptimizer(otherOptimizer, other.options);
    if (!error.empty())
      return module.emitError() << "--other-optimizer: " << error;
    if (otherWeightDecay >= 0)
      other.weightDecay = otherWeightDecay;
    auto rate = module->getAttrOfType<FloatAttr>(kStartRateAttr);
    if (otherLearningRate >= 0 && rate)
      other.learningRateScale = otherLearningRate / rate.getValueAsDouble();
    return other;
  }

  /// The ops that run once, at the end. Those that depend on sums of gradients do, also if a pass
  /// has rewritten nodes of the update.
  static SmallVector<Operation *> collectEpilogue(Block &block) {
    SmallVector<Operation *> epilogue;
    for (Operation &op : block.without_terminator()) {
      const bool followsSums = llvm::any_of(op.getOperands(), [](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return producer && (isa<GradientOp>(producer) || isIn(producer, Segment::Epilogue));
      });
      if (followsSums)
        setSegment(&op, Segment::Epilogue);
      if (isIn(&op, Segment::Epilogue))
        epilogue.push_back(&op);
    }
    return epilogue;
  }

  /// Completes a step that has its own updates.
  LogicalResult runWholeStep(ModuleOp module, func::FuncOp step, ArrayRef<GradientOp> gradients) {
    Block &block = step.getBody().front();
    if (clipNorm > 0 && !step.getOps<SquareSumOp>().empty())
      return module.emitError("the model computes norms of its gradients itself: expected no "
                              "--clip-norm beside them");
    if (nonFinite == NonFinite::Skip)
      return module.emitError("the model has its own update, which always counts its step: "
                              "expected --nonfinite=stop");
    SmallVector<Operation *> epilogue = collectEpilogue(block);
    if (failed(returnMeanLoss(step)))
      return failure();
    accumulateMicroBatches(module, step, microBatches);
    GradientFactorOptions options{clipNorm, clipByPrevious};
    options.share = (*step.getBody().getOps<UpdateOp>().begin()).getScalars().front();
    GradientFactor factor = buildGradientFactor(module, step, gradients, options);
    for (auto update : step.getBody().getOps<UpdateOp>())
      if (factor.factor)
        update.getScalarsMutable()[0].set(factor.factor);
    for (auto launch : step.getBody().getOps<LaunchOp>())
      if (factor.factor && launch->hasAttr(kDirectionAttr))
        launch->replaceUsesOfWith(options.share, factor.factor);
    // After the mean of the loss and the factor, which were added at the end.
    for (Operation *op : epilogue)
      op->moveBefore(block.getTerminator());
    return success();
  }

  FailureOr<ScheduleOptions> parseSchedule(ModuleOp module) {
    std::string error;
    std::optional<std::vector<SchedulePoint>> points =
        parsePoints(SmallVector<std::string>(lrPoints.begin(), lrPoints.end()), error);
    if (!points)
      return module.emitError("lr-points: " + error);
    ScheduleOptions schedule{scheduleKind, warmupSteps, totalSteps, minLearningRate,
                             warmupForm,   warmupRatio, lrPower,    lrCycles,
                             decaySteps,   decayForm,   *points};
    error = checkSchedule(schedule);
    if (!error.empty())
      return module.emitError(error);
    return schedule;
  }

  /// The average that is asked for, if any.
  FailureOr<std::optional<AverageOptions>> parseAverageOptions(ModuleOp module) {
    if (ema.empty())
      return std::optional<AverageOptions>();
    std::string error;
    std::optional<AverageOptions> average = parseAverage(ema, error);
    if (!average)
      return module.emitError("ema: " + error);
    average->every = emaEvery;
    average->start = emaStart;
    return average;
  }

  /// Whether a step counts is not known before all gradients are.
  LogicalResult checkClipping(ModuleOp module) {
    const bool skips = nonFinite == NonFinite::Skip || skipAbove > 0 || skipSpikes > 0 ||
                       module.lookupSymbol(kLossScale);
    if (!clipByPrevious || (clipNorm > 0 && !skips))
      return success();
    return module.emitError("--clip-by-previous: expected ")
           << (clipNorm > 0 ? "no --precision=fp16, --nonfinite=skip or --skip-..., which decide "
                              "by all gradients whether the step counts"
                            : "--clip-norm");
  }

  LogicalResult run(ModuleOp module, func::FuncOp step, ArrayRef<GradientOp> gradients) {
    if (failed(checkClipping(module)))
      return failure();
    if (module->hasAttr(kWholeStepAttr))
      return runWholeStep(module, step, gradients);
    FailureOr<ScheduleOptions> schedule = parseSchedule(module);
    if (failed(schedule))
      return failure();
    FailureOr<SmallVector<ParameterGroup>> given = parseGroups();
    if (failed(given))
      return failure();
    OptimizerOptions options{optimizer};
    if (std::string error = options.parse(settings); !error.empty())
      return module.emitError(error);
    FailureOr<OtherOptimizer> other = parseOther(module);
    if (failed(other))
      return failure();
    FailureOr<std::optional<AverageOptions>> average = parseAverageOptions(module);
    if (failed(average))
      return failure();
    FailureOr<ParameterGroups> groups =
        ParameterGroups::create(module, options, *other, *given, *average);
    if (failed(groups))
      return failure();
    MatrixParameters matrices;
    if (groups->divides()) {
      auto found =
          MatrixParameters::find(step, gradients, groups->optimizer(0), matrixParams, otherParams);
      if (failed(found))
        return failure();
      matrices = std::move(*found);
    }
    ScoreLimit scores(module, step, groups->optimizer(0).scoreLimit());
    if (scores.exists() && failed(scores.measure(matrices, gradients)))
      return failure();
    StatePrecision precision;
    std::string error = precision.parse(statePrecision);
    if (error.empty())
      error = precision.check(groups->optimizers());
    if (!error.empty())
      return module.emitError(error);
    StepUpdates updates(module, step, *groups, matrices, *schedule, precision, masterWeights);
    if (failed(updates.check(gradients)) || failed(returnMeanLoss(step)))
      return failure();

    accumulateMicroBatches(module, step, microBatches, gradPrecision);
    GradientFactorOptions factorOptions{
        .clipNorm = clipNorm,
        .clipsByPrevious = clipByPrevious,
        .isScaleFixed = lossScale > 0,
        .lossScale = {minLossScale, double(lossScaleWindow), double(patience)}};
    factorOptions.skipsNonFinite = nonFinite == NonFinite::Skip;
    factorOptions.guard = {skipAbove, skipSpikes};
    // The model's own gradients are those of the rank's own mean.
    if (module->hasAttr(kOwnGradientsAttr)) {
      OpBuilder builder(step.getBody().front().getTerminator());
      factorOptions.share = RankShareOp::create(builder, step.getLoc(),
                                                RankedTensorType::get({}, builder.getF32Type()));
    }
    GradientFactor factor = buildGradientFactor(module, step, gradients, factorOptions);
    if (!factor.factor)
      factor.factor = factorOptions.share;
    updates.addScalars(factor.counts);
    if (scores.exists()) {
      scores.addFactors();
      updates.setScoreLimit(scores);
    }
    for (GradientOp gradient : gradients)
      updates.addUpdate(gradient, factor);
    updates.remarkPrecision();
    updates.remarkMatrices(gradients);
    module->setAttr(kOptimizerAttr, StringAttr::get(&getContext(), groups->describe()));
    return groups->checkUsed(module);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    module->setAttr(kMicroBatchesAttr,
                    IntegerAttr::get(IntegerType::get(&getContext(), 64), int64_t(microBatches)));
    SmallVector<GradientOp> gradients(step->getBody().getOps<GradientOp>());
    if (!gradients.empty() && failed(run(module, *step, gradients)))
      signalPassFailure();
  }
};
} // namespace
