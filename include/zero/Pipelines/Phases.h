//===- Phases.h - the way of the data -----------------------------*- C++ -*-===//
//
// Each phase is a pipeline with its options, registered under `zero-phase-NAME`,
// and ends with a verifier that states its contract. docs/phases.md tells the
// story.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_PIPELINES_PHASES_H
#define ZERO_PIPELINES_PHASES_H

#include "zero/Pipelines/ByteSizeOption.h"
#include "zero/Pipelines/OptimizerFlags.h"
#include "zero/Planning/Machine.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace zero {

/// What the phases need to know. Every tool fills this one struct.
struct StepOptions : mlir::PassPipelineOptions<StepOptions> {
  // import
  Option<std::string> dataRoot{
      *this, "data-root", llvm::cl::desc("where referenced data lies, when not beside the model"),
      llvm::cl::value_desc("folder")};
  Option<bool> forwardOnly{*this, "forward-only",
                           llvm::cl::desc("compile the model as it is: all outputs, no training")};
  Option<std::string> trainable{
      *this, "trainable",
      llvm::cl::desc(
          "train exactly the parameters (names or globs) listed in this file, and freeze "
          "the others"),
      llvm::cl::value_desc("file")};
  ListOption<std::string> freeze{*this, "freeze",
                                 llvm::cl::desc("do not train parameters that match these globs"),
                                 llvm::cl::value_desc("pattern,...")};
  ListOption<std::string> freezeAllBut{
      *this, "freeze-all-but", llvm::cl::desc("train only the parameters that match these globs"),
      llvm::cl::value_desc("pattern,...")};
  Option<bool> verbose{*this, "verbose",
                       llvm::cl::desc("list everything that is trained, or that an error is "
                                      "about (-v)")};
  // recognise
  Option<uint64_t> seed{*this, "seed", llvm::cl::desc("seed of Dropout's random numbers (0)"),
                        llvm::cl::init(0), llvm::cl::value_desc("N")};
  // precision
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("store parameters, gradients and activations in 16 bits (fp32)"),
      llvm::cl::init("fp32"), llvm::cl::value_desc("fp32|bf16|fp16")};
  Option<std::string> frozenPrecision{
      *this, "frozen-precision",
      llvm::cl::desc("store frozen parameters in 16 bits: bf16 or fp16 (as the others)"),
      llvm::cl::value_desc("bf16|fp16")};
  Option<double> lossScale{
      *this, "loss-scale",
      llvm::cl::desc("fp16: scale of the loss; 0, the default: found and adapted as it goes"),
      llvm::cl::init(0.0)};
  Option<double> initialLossScale{*this, "initial-loss-scale",
                                  llvm::cl::desc("fp16: where adapting starts (65536)"),
                                  llvm::cl::init(65536.0)};
  Option<double> minLossScale{*this, "min-loss-scale",
                              llvm::cl::desc("fp16: the smallest scale to try (1)"),
                              llvm::cl::init(1.0)};
  Option<unsigned> lossScaleWindow{
      *this, "loss-scale-window",
      llvm::cl::desc("fp16: steps without overflow after which the scale doubles (1000)"),
      llvm::cl::init(1000), llvm::cl::value_desc("N")};
  Option<unsigned> lossScaleHysteresis{*this, "loss-scale-hysteresis",
                                       llvm::cl::desc("fp16: overflows until the scale halves (1)"),
                                       llvm::cl::init(1), llvm::cl::value_desc("N")};
  // differentiate
  Option<ByteSize> tileParamsOver{
      *this, "tile-params-over",
      llvm::cl::desc("cut parameters above this, and what reads them, into tiles that are "
                     "gathered one at a time (0: none); sums of backward round otherwise"),
      llvm::cl::init(ByteSize{0})};
  Option<std::string> lossMean{
      *this, "loss-mean",
      llvm::cl::desc("mean over labels: of all ranks' labels, or of each rank's, averaged"),
      llvm::cl::init("global"), llvm::cl::value_desc("global|local")};
  Option<bool> syncBatchNorm{
      *this, "sync-batchnorm",
      llvm::cl::desc("BatchNormalization: statistics over the batches of all ranks")};
  // step
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::desc(optimizerNames()),
                                llvm::cl::init("adamw"), llvm::cl::value_desc("name")};
  OptimizerFlags hyperparameters{*this};
  ListOption<std::string> noDecay{
      *this, "no-decay", llvm::cl::desc("no weight decay for parameters that match these globs"),
      llvm::cl::value_desc("pattern,...")};
  ListOption<std::string> paramGroups{
      *this, "param-group",
      llvm::cl::desc("what is different for parameters that match a glob: weight-decay=X, "
                     "lr-scale=Y or both, joined by ':'; the first group that matches counts"),
      llvm::cl::value_desc("pattern:what=X,...")};
  Option<std::string> schedule{*this, "lr-schedule",
                               llvm::cl::desc("how the learning rate goes on after the warm-up: "
                                              "constant, linear, cosine or inverse-sqrt"),
                               llvm::cl::init("constant"), llvm::cl::value_desc("name")};
  Option<uint64_t> warmupSteps{*this, "warmup-steps",
                               llvm::cl::desc("steps in which the learning rate rises from 0"),
                               llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<uint64_t> totalSteps{
      *this, "total-steps",
      llvm::cl::desc("linear, cosine: steps after which the learning rate stays"),
      llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<double> minLearningRate{
      *this, "min-lr-ratio", llvm::cl::desc("linear, cosine: where it ends, as a part of --lr (0)"),
      llvm::cl::init(0.0)};
  Option<double> clipNorm{*this, "clip-norm",
                          llvm::cl::desc("scale gradients down to this global norm (0: as it is)"),
                          llvm::cl::init(0.0)};
  Option<uint64_t> microBatches{*this, "micro-batches",
                                llvm::cl::desc("batches whose gradients one step adds up (1)"),
                                llvm::cl::init(1), llvm::cl::value_desc("N")};
  // shape
  Option<ByteSize> logitsBytes{
      *this, "logits-bytes",
      llvm::cl::desc("most logits of the loss at once, in tiles of rows (0: 8 MiB, but 256 rows)"),
      llvm::cl::init(ByteSize{0})};
  Option<std::string> recompute{
      *this, "recompute",
      llvm::cl::desc("what backward computes again instead of keeping it from forward: cheap "
                     "(element by element, or a normalisation of a row) or none (cheap)"),
      llvm::cl::init("cheap"), llvm::cl::value_desc("cheap|none")};
  // kernels
  Option<std::string> device{*this, "device",
                             llvm::cl::desc("what kernels run on: cpu, cuda, or simulated: the cpu "
                                            "does what a GPU's threads would, for tests (cpu)"),
                             llvm::cl::init("cpu"), llvm::cl::value_desc("cpu|cuda|simulated")};
  Option<unsigned> threadsPerRank{
      *this, "threads-per-rank",
      llvm::cl::desc("threads of a rank that scratch memory is planned for (1); products of other "
                     "numbers of them differ in the last bits"),
      llvm::cl::init(1), llvm::cl::value_desc("N")};
  // place
  Option<std::string> checkpoint{
      *this, "checkpoint",
      llvm::cl::desc(
          "what layers keep for backward: all it reads (none), only what goes from "
          "one layer to the next (layer) or between groups of layers (sqrt); backward "
          "makes the rest again; auto: value by value, as a budget wants it (none; with a "
          "budget auto)"),
      llvm::cl::value_desc("none|layer|sqrt|auto")};
  Option<uint64_t> checkpointSlots{
      *this, "checkpoint-slots",
      llvm::cl::desc("keep what goes into at most so many layers at a time (0: see --checkpoint)"),
      llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<std::string> offloadParams{
      *this, "offload-params",
      llvm::cl::desc("where parameters wait for their use: device, host or nvme, sharded over "
                     "ranks (stage 3); auto: as a budget wants it (device)"),
      llvm::cl::init("device"), llvm::cl::value_desc("tier")};
  Option<std::string> offloadGradients{
      *this, "offload-gradients",
      llvm::cl::desc("where summed gradients wait for the update (device)"),
      llvm::cl::init("device"), llvm::cl::value_desc("tier")};
  Option<std::string> offloadOptimizer{
      *this, "offload-optimizer",
      llvm::cl::desc("where optimizer state lies; elsewhere than on the device the host's cores "
                     "update; auto: as a budget wants it (device)"),
      llvm::cl::init("device"), llvm::cl::value_desc("tier")};
  Option<std::string> offloadActivations{
      *this, "offload-activations",
      llvm::cl::desc(
          "where what forward saves waits for backward: device, host or nvme; auto: "
          "value by value, beside what is computed again, as a budget wants it (device)"),
      llvm::cl::init("device"), llvm::cl::value_desc("tier")};
  Option<bool> partitionActivations{
      *this, "partition-activations",
      llvm::cl::desc("keep activations in parts where ranks hold the same (ZeRO-R's Pa): refused "
                     "among data-parallel ranks, which do not")};
  Option<ByteSize> memoryBudget{
      *this, "memory-budget",
      llvm::cl::desc("bytes that a rank may take: the fastest plan that fits, or an error"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> hostBudget{
      *this, "host-budget",
      llvm::cl::desc("bytes of the host's memory that a rank may take for what is on other tiers "
                     "(0: as many as it wants)"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> activationBudget{
      *this, "activation-budget",
      llvm::cl::desc("bytes of it for inputs and for what forward saves for backward"),
      llvm::cl::init(ByteSize{0})};
  Option<std::string> zero{
      *this, "zero",
      llvm::cl::desc("with a budget: auto chooses stage, parameters kept whole, buckets and "
                     "recomputation together"),
      llvm::cl::value_desc("auto")};
  Option<std::string> machine{
      *this, "machine",
      llvm::cl::desc("with a budget: the machine that times are planned for: a preset or a file as "
                     "zero-run --calibrate writes it (cpu, for GPUs h100)"),
      llvm::cl::value_desc("name|file")};
  Option<ByteSize> diskRead{
      *this, "disk-read",
      llvm::cl::desc(
          "bytes a second that the nvme tier's disk reads, for all ranks together (0: as "
          "--machine says)"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> diskWrite{*this, "disk-write",
                             llvm::cl::desc("the same of what is written (0: as --machine says)"),
                             llvm::cl::init(ByteSize{0})};
  Option<unsigned> stage{*this, "zero-stage", llvm::cl::desc("ZeRO stage: 0, 1, 2 or 3"),
                         llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<unsigned> ranks{*this, "ranks", llvm::cl::desc("data-parallel ranks"), llvm::cl::init(1),
                         llvm::cl::value_desc("N")};
  Option<ByteSize> bucketBytes{*this, "bucket-bytes",
                               llvm::cl::desc("largest bucket of parameters (25MB)"),
                               llvm::cl::init(ByteSize{25000000})};
  Option<ByteSize> persistUnder{
      *this, "persist-under",
      llvm::cl::desc("stage 3: each rank keeps parameters smaller than this whole (0)"),
      llvm::cl::init(ByteSize{0})};
  // partition
  Option<std::string> gradReduce{
      *this, "grad-reduce",
      llvm::cl::desc("stages 0 and 1: sum gradients over ranks after the last micro-batch or "
                     "after each (last)"),
      llvm::cl::init("last"), llvm::cl::value_desc("last|each")};
  Option<std::string> reduceDtype{
      *this, "reduce-dtype",
      llvm::cl::desc("type in which 16-bit gradients are added over ranks (fp32)"),
      llvm::cl::init("fp32"), llvm::cl::value_desc("fp32|bf16|fp16")};

  /// The machine that is meant: `machine`, or a preset for what is compiled for.
  std::string machineName() const;
  /// Its description, with the disk that the options tell of; returns what is wrong, or nothing.
  std::string loadMachine(planning::Machine &machine) const;

  /// The optimizer that is asked for.
  OptimizerOptions optimizerOptions() const { return hyperparameters.optionsOf(optimizer); }

  /// Whether there is an option `name`.
  bool knows(llvm::StringRef name) const;
  /// Whether option `name` needs no value.
  bool isSwitch(llvm::StringRef name) const;
  /// Sets option `name` from text; returns what is wrong with it, or nothing.
  std::string set(llvm::StringRef name, llvm::StringRef value);
};

/// The phases in order. `emit` is no pipeline: it writes a file.
enum class Phase {
  Import,
  Recognise,
  Precision,
  Differentiate,
  Step,
  Shape,
  Kernels,
  Place,
  Partition,
  Schedule,
  Pack
};

/// "import", "recognise", ...
llvm::StringRef phaseName(Phase phase);
llvm::ArrayRef<Phase> allPhases();

/// Adds one phase, with its verifier, to `pm`, which runs on modules.
void addPhase(mlir::OpPassManager &pm, Phase phase, const StepOptions &options);

/// Registers every phase as a pipeline `zero-phase-NAME`.
void registerPhases();

} // namespace zero

#endif // ZERO_PIPELINES_PHASES_H
