//===- Step.h - options of the phases that build a step ---------*- C++ -*-===//

#ifndef ZERO_PIPELINES_OPTIONS_STEP_H
#define ZERO_PIPELINES_OPTIONS_STEP_H

#include "runtime/format/limits.h"
#include "zero/Optimizers/Average.h"
#include "zero/Optimizers/Schedule.h"
#include "zero/Pipelines/OptimizerFlags.h"
#include "zero/Pipelines/Options/Group.h"
#include "zero/Transforms/Step/GradPrecision.h"
#include "zero/Transforms/Step/NonFinite.h"

namespace zero::phase {

/// Options of the optimizer and of gradient accumulation.
struct StepOptions : Group {
  using Group::Group;

  Option<std::string> optimizer{parent,
                                "optimizer",
                                ofStep().inShort("Optimizer", "adamw, sgd, lamb, ... (adamw)"),
                                llvm::cl::desc(optimizerNames()),
                                llvm::cl::init("adamw"),
                                llvm::cl::value_desc("name")};
  OptimizerFlags hyperparameters{parent};
  Option<std::string> otherOptimizer{
      parent,
      "other-optimizer",
      ofStep(needs::matrixOptimizer).checked(valid::otherOptimizer),
      llvm::cl::desc("optimizer of the parameters that one of matrices does not update, and its "
                     "settings, joined by ':'"),
      llvm::cl::init("adamw"),
      llvm::cl::value_desc("name[:FLAG=X...]")};
  Option<double> otherLearningRate{
      parent, "other-lr", ofStep(needs::matrixOptimizer).notNegative().orElse("that of --lr"),
      llvm::cl::desc("learning rate of --other-optimizer; another --lr of a run scales both"),
      llvm::cl::init(-1.0)};
  Option<double> otherWeightDecay{
      parent, "other-weight-decay",
      ofStep(needs::matrixOptimizer).notNegative().orElse("that of --other-optimizer, or 0"),
      llvm::cl::desc("weight decay of --other-optimizer"), llvm::cl::init(-1.0)};
  ListOption<std::string> matrixParams{
      parent, "matrix-params", ofStep(needs::matrixOptimizer),
      llvm::cl::desc("an optimizer of matrices updates parameters that match these globs, too, "
                     "beside the hidden matrices"),
      llvm::cl::value_desc("pattern,...")};
  ListOption<std::string> otherParams{
      parent, "other-params", ofStep(needs::matrixOptimizer),
      llvm::cl::desc("--other-optimizer updates parameters that match these globs"),
      llvm::cl::value_desc("pattern,...")};
  ListOption<std::string> noDecay{
      parent, "no-decay", ofStep(needs::training, needs::decay).checked(valid::noDecay),
      llvm::cl::desc("no weight decay for parameters that match these globs"),
      llvm::cl::value_desc("pattern,...")};
  ListOption<std::string> paramGroups{
      parent, "param-group", ofStep(needs::training).checked(valid::paramGroups),
      llvm::cl::desc("settings of parameters that match a glob: weight-decay=X, lr-scale=Y, or "
                     "those of a schedule of their own, lr-schedule=... and others, joined by ':'; "
                     "the first matching group applies"),
      llvm::cl::value_desc("pattern:key=X,...")};
  ListOption<std::string> statePrecision{
      parent, "state-precision", ofStep(needs::training),
      llvm::cl::desc("how states of the optimizer are stored: f32, bf16, 8bit or 4bit, for all or "
                     "by name (exp_avg=8bit,exp_avg_sq=f32)"),
      llvm::cl::value_desc("precision|STATE=precision,...")};
  WordOption<ScheduleKind> schedule{
      parent, "lr-schedule", ofStep(needs::training),
      llvm::cl::desc("learning rate after the warm-up: constant, down to --min-lr-ratio (linear, "
                     "cosine, cosine-restarts, polynomial; wsd: in the last --decay-steps), "
                     "inverse-sqrt, or between --lr-points"),
      llvm::cl::init(ScheduleKind::Constant)};
  Option<uint64_t> warmupSteps{
      parent,
      "warmup-steps",
      ofStep(needs::training).fromDeepSpeed("scheduler.params.warmup_num_steps"),
      llvm::cl::desc("steps in which the learning rate rises"),
      llvm::cl::init(0),
      llvm::cl::value_desc("N")};
  WordOption<WarmupForm> warmupForm{
      parent, "warmup-form", ofStep(needs::training),
      llvm::cl::desc("how the learning rate rises: linear, log (DeepSpeed's default) or cosine"),
      llvm::cl::init(WarmupForm::Linear)};
  Option<double> warmupRatio{
      parent, "warmup-ratio", ofStep(needs::training),
      llvm::cl::desc("learning rate of the first step of a warm-up as a fraction of --lr"),
      llvm::cl::init(0.0)};
  Option<uint64_t> totalSteps{
      parent,
      "total-steps",
      ofStep(needs::training).orElse("").fromDeepSpeed("scheduler.params.total_num_steps"),
      llvm::cl::desc("step after which a learning rate that falls is constant"),
      llvm::cl::init(0),
      llvm::cl::value_desc("N")};
  Option<double> minLearningRate{
      parent, "min-lr-ratio",
      ofStep(needs::training).fromDeepSpeed("scheduler.params.cos_min_ratio"),
      llvm::cl::desc("final learning rate of one that falls, as a fraction of --lr"),
      llvm::cl::init(0.0)};
  Option<double> lrPower{parent, "lr-power", ofStep(needs::training),
                         llvm::cl::desc("polynomial: exponent of what is left of the steps"),
                         llvm::cl::init(1.0)};
  Option<uint64_t> lrCycles{parent,
                            "lr-cycles",
                            ofStep(needs::training),
                            llvm::cl::desc("cosine-restarts: number of half cosines"),
                            llvm::cl::init(1),
                            llvm::cl::value_desc("N")};
  Option<uint64_t> decaySteps{parent,
                              "decay-steps",
                              ofStep(needs::training),
                              llvm::cl::desc("wsd: steps at the end in which the rate falls"),
                              llvm::cl::init(0),
                              llvm::cl::value_desc("N")};
  WordOption<DecayForm> decayForm{
      parent, "decay-form", ofStep(needs::training),
      llvm::cl::desc("wsd: how the rate falls: linear, cosine or sqrt (1 - sqrt)"),
      llvm::cl::init(DecayForm::Linear)};
  ListOption<std::string> lrPoints{
      parent, "lr-points", ofStep(needs::training).checked(valid::lrPoints),
      llvm::cl::desc("points: factors on --lr after so many updates, with lines between them"),
      llvm::cl::value_desc("STEP:FACTOR,...")};
  Option<std::string> ema{parent, "ema", ofStep(needs::training).checked(valid::ema),
                          llvm::cl::desc("keep an average of each trained parameter over updates: "
                                         "exponential with this decay, or the mean"),
                          llvm::cl::value_desc("DECAY|mean")};
  Option<uint64_t> emaEvery{
      parent,
      "ema-every",
      ofStep(needs::average).atLeastOne(),
      llvm::cl::desc("updates from one value that counts in the averages to the next"),
      llvm::cl::init(1),
      llvm::cl::value_desc("N")};
  Option<uint64_t> emaStart{parent,
                            "ema-start",
                            ofStep(needs::average).atLeastOne(),
                            llvm::cl::desc("the first update whose values count in the averages"),
                            llvm::cl::init(1),
                            llvm::cl::value_desc("N")};
  Option<double> clipNorm{parent, "clip-norm",
                          ofStep(needs::training)
                              .notNegative()
                              .orElse("0: do not clip")
                              .fromDeepSpeed("gradient_clipping")
                              .inShort("Optimizer", "largest global norm of the gradients"),
                          llvm::cl::desc("scale gradients down to this global norm"),
                          llvm::cl::init(0.0)};
  Option<bool> clipByPrevious{
      parent, "clip-by-previous", ofStep(needs::training),
      llvm::cl::desc("with --clip-norm: scale by the norm of the step before, so that updates need "
                     "not wait for all gradients; the first step is not scaled"),
      llvm::cl::init(false)};
  WordOption<NonFinite> nonFinite{
      parent, "nonfinite",
      llvm::cl::desc("a step of which a gradient is NaN or infinite: stop, with the name of the "
                     "parameter, or skip, which changes no state; fp16 always skips"),
      llvm::cl::init(NonFinite::Stop)};
  Option<double> skipAbove{
      parent, "skip-above", ofStep(needs::training).notNegative().orElse("0: no limit"),
      llvm::cl::desc("a step whose gradients have a larger global norm, or one that is not finite, "
                     "changes no state"),
      llvm::cl::init(0.0)};
  Option<double> skipSpikes{
      parent, "skip-spikes", ofStep(needs::training).notNegative().orElse("0: no limit"),
      llvm::cl::desc("a step whose loss is more than this multiple of a running mean of losses, or "
                     "whose gradients are not finite, changes no state"),
      llvm::cl::init(0.0)};
  Option<uint64_t> microBatches{
      parent,
      "micro-batches",
      appliesIf(needs::training)
          .from(1, rt::kMostMicroBatches)
          .fromDeepSpeed("gradient_accumulation_steps")
          .inShort("Partition", "micro-batches of a step (1)"),
      llvm::cl::desc("micro-batches whose gradients one step accumulates"),
      llvm::cl::init(1),
      llvm::cl::value_desc("N")};
  WordOption<GradPrecision> gradPrecision{
      parent, "grad-precision", ofStep(needs::training, needs::microBatches),
      llvm::cl::desc("how sums of gradients over micro-batches are stored: f32, or bf16, rounded "
                     "at random"),
      llvm::cl::init(GradPrecision::F32)};

  /// The requested optimizer and its hyperparameters.
  OptimizerOptions optimizerOptions() const { return hyperparameters.optionsOf(optimizer); }
  ScheduleOptions scheduleOptions() const;
};

/// Options of the tiling of logits and of cheap recomputation.
struct ShapeOptions : Group {
  using Group::Group;

  Option<ByteSize> logitsBytes{parent, "logits-bytes",
                               always().orElse("0: 8 MiB, but at least 256 rows; on GPUs 256 MiB"),
                               llvm::cl::desc("maximum bytes of logits of the loss at a time, in "
                                              "tiles of rows"),
                               llvm::cl::init(ByteSize{0})};
  WordOption<Recompute> recompute{
      parent, "recompute",
      llvm::cl::desc("values that backward recomputes instead of saving them in forward: cheap "
                     "(elementwise ops and row normalizations) or none"),
      llvm::cl::init(Recompute::Cheap)};
};

/// Options of the target of kernels.
struct KernelOptions : Group {
  using Group::Group;

  WordOption<Device> device{parent, "device", llvm::cl::desc("device of the kernels: cpu or cuda"),
                            llvm::cl::init(Device::Cpu)};
  Option<unsigned> threadsPerRank{
      parent,
      "threads-per-rank",
      appliesIf(needs::cpuRanks).from(1, rt::kMostThreads),
      llvm::cl::desc("threads of a rank that the workspace is planned for; matrix products "
                     "with another number of threads differ in the last bits"),
      llvm::cl::init(1),
      llvm::cl::value_desc("N")};
  Option<std::string> targetCpu{
      parent,
      "target-cpu",
      appliesIf(needs::cpuKernels).checked(valid::targetCpu),
      llvm::cl::desc("processor of the kernels: native, a level such as x86-64-v3, "
                     "aarch64[:feature,...], or a processor such as znver4 or cortex-a76"),
      llvm::cl::init("native"),
      llvm::cl::value_desc("cpu")};
};

} // namespace zero::phase

#endif // ZERO_PIPELINES_OPTIONS_STEP_H
