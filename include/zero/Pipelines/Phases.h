//===- Phases.h - the way of the data -----------------------------*- C++ -*-===//
//
// Each phase is a pipeline with its options, registered under `zero-phase-NAME`,
// and ends with a verifier that states its contract. docs/phases.md tells the
// story.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_PIPELINES_PHASES_H
#define ZERO_PIPELINES_PHASES_H

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
      llvm::cl::desc("train exactly the parameters (names or globs) listed in this file"),
      llvm::cl::value_desc("file")};
  ListOption<std::string> freeze{*this, "freeze",
                                 llvm::cl::desc("do not train parameters that match these globs"),
                                 llvm::cl::value_desc("pattern,...")};
  // recognise
  Option<uint64_t> seed{*this, "seed", llvm::cl::desc("seed of Dropout's random numbers (0)"),
                        llvm::cl::init(0), llvm::cl::value_desc("N")};
  // differentiate
  Option<std::string> lossMean{
      *this, "loss-mean",
      llvm::cl::desc("mean over labels: of all ranks' labels, or of each rank's, averaged"),
      llvm::cl::init("global"), llvm::cl::value_desc("global|local")};
  Option<bool> syncBatchNorm{
      *this, "sync-batchnorm",
      llvm::cl::desc("BatchNormalization: statistics over the batches of all ranks")};
  // step
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::desc("sgd, adam or adamw"),
                                llvm::cl::init("adamw"), llvm::cl::value_desc("name")};
  ListOption<double> betas{*this, "betas", llvm::cl::desc("Adam's decay rates (0.9,0.999)"),
                           llvm::cl::value_desc("beta1,beta2")};
  Option<double> epsilon{*this, "eps", llvm::cl::desc("Adam's epsilon (1e-8)"),
                         llvm::cl::init(1e-8)};
  Option<double> weightDecay{*this, "weight-decay", llvm::cl::desc("weight decay (0)"),
                             llvm::cl::init(0.0)};
  Option<double> momentum{*this, "momentum", llvm::cl::desc("SGD's momentum (0)"),
                          llvm::cl::init(0.0)};
  Option<double> dampening{*this, "dampening", llvm::cl::desc("SGD's dampening (0)"),
                           llvm::cl::init(0.0)};
  Option<bool> nesterov{*this, "nesterov", llvm::cl::desc("SGD with Nesterov's momentum")};
  // place
  Option<unsigned> stage{*this, "zero-stage", llvm::cl::desc("ZeRO stage: 0, 1, 2 or 3"),
                         llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<unsigned> ranks{*this, "ranks", llvm::cl::desc("data-parallel ranks"), llvm::cl::init(1),
                         llvm::cl::value_desc("N")};
  Option<uint64_t> bucketBytes{*this, "bucket-bytes",
                               llvm::cl::desc("largest bucket of parameters (25000000)"),
                               llvm::cl::init(25000000), llvm::cl::value_desc("bytes")};

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
  Differentiate,
  Step,
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
