//===- Step.h - options of the phases that make a step -----*- C++ -*-===//

#ifndef ZERO_PIPELINES_OPTIONS_STEP_H
#define ZERO_PIPELINES_OPTIONS_STEP_H

#include "zero/Optimizers/Schedule.h"
#include "zero/Pipelines/OptimizerFlags.h"
#include "zero/Pipelines/Options/Group.h"

namespace zero::phase {

/// What a step does with gradients.
struct StepOptions : Group {
  using Group::Group;

  Option<std::string> optimizer{parent, "optimizer", llvm::cl::desc(optimizerNames()),
                                llvm::cl::init("adamw"), llvm::cl::value_desc("name")};
  OptimizerFlags hyperparameters{parent};
  ListOption<std::string> noDecay{
      parent, "no-decay", llvm::cl::desc("no weight decay for parameters that match these globs"),
      llvm::cl::value_desc("pattern,...")};
  ListOption<std::string> paramGroups{
      parent, "param-group",
      llvm::cl::desc("what is different for parameters that match a glob: weight-decay=X, "
                     "lr-scale=Y or both, joined by ':'; the first group that matches counts"),
      llvm::cl::value_desc("pattern:what=X,...")};
  WordOption<ScheduleKind> schedule{
      parent, "lr-schedule",
      llvm::cl::desc("how the learning rate goes on after the warm-up: "
                     "constant, linear, cosine or inverse-sqrt"),
      llvm::cl::init(ScheduleKind::Constant)};
  Option<uint64_t> warmupSteps{parent, "warmup-steps",
                               llvm::cl::desc("steps in which the learning rate rises from 0"),
                               llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<uint64_t> totalSteps{
      parent, "total-steps",
      llvm::cl::desc("linear, cosine: steps after which the learning rate stays"),
      llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<double> minLearningRate{
      parent, "min-lr-ratio",
      llvm::cl::desc("linear, cosine: where it ends, as a part of --lr (0)"), llvm::cl::init(0.0)};
  Option<double> clipNorm{parent, "clip-norm",
                          llvm::cl::desc("scale gradients down to this global norm (0: as it is)"),
                          llvm::cl::init(0.0)};
  Option<uint64_t> microBatches{parent, "micro-batches",
                                llvm::cl::desc("batches whose gradients one step adds up (1)"),
                                llvm::cl::init(1), llvm::cl::value_desc("N")};

  /// The optimizer that is asked for.
  OptimizerOptions optimizerOptions() const { return hyperparameters.optionsOf(optimizer); }
  ScheduleOptions scheduleOptions() const {
    return {schedule, warmupSteps, totalSteps, minLearningRate};
  }
};

/// Tiles, and what is computed again without being asked for.
struct ShapeOptions : Group {
  using Group::Group;

  Option<ByteSize> logitsBytes{
      parent, "logits-bytes",
      llvm::cl::desc("most logits of the loss at once, in tiles of rows (0: 8 MiB, but 256 rows)"),
      llvm::cl::init(ByteSize{0})};
  WordOption<Recompute> recompute{
      parent, "recompute",
      llvm::cl::desc("what backward computes again instead of keeping it from forward: cheap "
                     "(element by element, or a normalisation of a row) or none (cheap)"),
      llvm::cl::init(Recompute::Cheap)};
};

/// What kernels are made for.
struct KernelOptions : Group {
  using Group::Group;

  WordOption<Device> device{parent, "device",
                            llvm::cl::desc("what kernels run on: cpu, cuda, or simulated: the cpu "
                                           "does what a GPU's threads would, for tests (cpu)"),
                            llvm::cl::init(Device::Cpu)};
  Option<unsigned> threadsPerRank{
      parent, "threads-per-rank",
      llvm::cl::desc("threads of a rank that scratch memory is planned for (1); products of other "
                     "numbers of them differ in the last bits"),
      llvm::cl::init(1), llvm::cl::value_desc("N")};
};

} // namespace zero::phase

#endif // ZERO_PIPELINES_OPTIONS_STEP_H
