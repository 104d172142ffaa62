//===- Model.h - options of the phases that read a model --------*- C++ -*-===//

#ifndef ZERO_PIPELINES_OPTIONS_MODEL_H
#define ZERO_PIPELINES_OPTIONS_MODEL_H

#include "zero/Pipelines/Options/Group.h"
#include "zero/Transforms/Step/MasterWeights.h"

namespace zero::phase {

/// Options of the model and of the parameters that are trained.
struct ImportOptions : Group {
  using Group::Group;

  Option<std::string> dataRoot{
      parent, "data-root", ofStep().checked(valid::dataRoot).orElse("that of the model"),
      llvm::cl::desc("directory of the data files that the model references"),
      llvm::cl::value_desc("directory")};
  Option<bool> forwardOnly{
      parent, "forward-only",
      llvm::cl::desc("compile the model for inference: all outputs, no training")};
  Option<std::string> trainable{
      parent, "trainable", ofStep(),
      llvm::cl::desc(
          "train only the parameters that this file lists (names or globs), and freeze the others"),
      llvm::cl::value_desc("file")};
  ListOption<std::string> freeze{
      parent, "freeze",
      ofStep(needs::trainedBase).inShort("Model", "parameters that are not trained"),
      llvm::cl::desc("do not train parameters that match these globs"),
      llvm::cl::value_desc("pattern,...")};
  ListOption<std::string> freezeAllBut{
      parent, "freeze-all-but", ofStep(needs::noList),
      llvm::cl::desc("train only the parameters that match these globs"),
      llvm::cl::value_desc("pattern,...")};
  Option<std::string> init{
      parent, "init",
      llvm::cl::desc(
          "draw the initial values of parameters: normal:STD, uniform:BOUND, xavier-normal, "
          "xavier-uniform, kaiming-normal or kaiming-uniform. Vectors are 1 if they scale, "
          "else 0. Data of the model's parameters is not read and may be missing"),
      llvm::cl::value_desc("scheme")};
  Option<bool> verbose{
      parent, "verbose", ofStep(),
      llvm::cl::desc("list all trained parameters, and all items of an error (-v)")};
};

/// Options of the meaning of nodes.
struct RecogniseOptions : Group {
  using Group::Group;

  Option<uint64_t> seed{parent,
                        "seed",
                        ofStep(),
                        llvm::cl::desc("seed of the random numbers of Dropout"),
                        llvm::cl::init(0),
                        llvm::cl::value_desc("N")};
  WordOption<LossMean> lossMean{parent, "loss-mean",
                                llvm::cl::desc("average the loss over the labels of all ranks, or "
                                               "over each rank's labels and then over ranks"),
                                llvm::cl::init(LossMean::Global)};
  Option<bool> syncBatchNorm{
      parent, "sync-batchnorm",
      llvm::cl::desc("BatchNormalization: compute statistics over the batches of all ranks")};
};

/// Options of element types in memory and of loss scaling.
struct PrecisionOptions : Group {
  using Group::Group;

  WordOption<Precision> stored{
      parent, "precision",
      appliesIf(needs::training).inShort("Model", "type of values in memory (fp32)"),
      llvm::cl::desc("store parameters, gradients and activations in 16 bits"),
      llvm::cl::init(Precision::F32)};
  WordOption<FrozenPrecision> frozen{
      parent, "frozen-precision",
      appliesIf(needs::narrowerFrozen, needs::frozenParameters).orElse("like the other parameters"),
      llvm::cl::desc("store frozen parameters in 16 bits, bf16 or fp16, or their matrices in "
                     "blocks of codes of 4 or 8 bits, nf4, int8 or fp8, the others in 16 bits")};
  WordOption<MasterWeights> masterWeights{
      parent, "master-weights", appliesIf(needs::training, needs::bits16),
      llvm::cl::desc("values of 16-bit parameters that the optimizer updates: f32, or none: their "
                     "own, of bf16 rounded up or down at random; or nearest: rounded to nearest"),
      llvm::cl::init(MasterWeights::F32)};
  Option<double> lossScale{parent, "loss-scale",
                           appliesIf(needs::training, needs::fp16)
                               .within(0, FLT_MAX, "a positive number")
                               .fromDeepSpeed("fp16.loss_scale"),
                           llvm::cl::desc("fp16: fixed loss scale; 0: dynamic"),
                           llvm::cl::init(0.0)};
  Option<double> initialLossScale{
      parent, "initial-loss-scale", appliesIf(needs::fp16, needs::dynamicScale).positive(),
      llvm::cl::desc("fp16: initial value of the dynamic loss scale"), llvm::cl::init(65536.0)};
  Option<double> minLossScale{
      parent, "min-loss-scale",
      appliesIf(needs::fp16, needs::dynamicScale).positive().fromDeepSpeed("fp16.min_loss_scale"),
      llvm::cl::desc("fp16: minimum of the dynamic loss scale"), llvm::cl::init(1.0)};
  Option<unsigned> lossScaleWindow{
      parent,
      "loss-scale-window",
      appliesIf(needs::fp16, needs::dynamicScale)
          .atLeastOne()
          .fromDeepSpeed("fp16.loss_scale_window"),
      llvm::cl::desc("fp16: steps without overflow after which the scale doubles"),
      llvm::cl::init(1000),
      llvm::cl::value_desc("N")};
  Option<unsigned> lossScaleHysteresis{
      parent,
      "loss-scale-hysteresis",
      appliesIf(needs::fp16, needs::dynamicScale).atLeastOne().fromDeepSpeed("fp16.hysteresis"),
      llvm::cl::desc("fp16: overflows after which the scale halves"),
      llvm::cl::init(1),
      llvm::cl::value_desc("N")};
};

/// Options of the mesh of ranks and of what is sharded along its axis `tensor`.
struct ShardOptions : Group {
  using Group::Group;

  Option<std::string> mesh{
      parent, "mesh",
      always().checked(valid::mesh).orElse("data=--ranks, or that of a JAX program"),
      llvm::cl::desc("ranks along axes: those along data have different parts of the batch, those "
                     "along context of its sequences, those along tensor hold shards of parameters "
                     "and activations"),
      llvm::cl::value_desc("data=N,context=N,tensor=N")};
  Option<std::string> plan{
      parent, "tensor-plan",
      llvm::cl::desc("what is sharded along tensor: auto, which follows the shardings of a JAX "
                     "program, or a file with lines 'pattern: style'"),
      llvm::cl::init("auto"), llvm::cl::value_desc("auto|file")};

  Option<bool> sequenceParallel{
      parent, "sequence-parallel",
      llvm::cl::desc("cut the tokens of normalizations, dropout and residuals over tensor, too")};

  /// Whether ranks hold shards.
  bool any() const;
};

/// Options of what is rewritten before differentiation.
struct DifferentiateOptions : Group {
  using Group::Group;

  WordOption<AttentionKernels> attention{
      parent, "attention",
      llvm::cl::desc("attention as one kernel where the device has one (fused), or as products and "
                     "a softmax, whose weights are saved for backward"),
      llvm::cl::init(AttentionKernels::Fused)};

  Option<ByteSize> tileParamsOver{
      parent, "tile-params-over", always().orElse("0: none"),
      llvm::cl::desc(
          "split parameters above this size, and the ops that read them, into tiles that are "
          "gathered one at a time; sums in backward round differently"),
      llvm::cl::init(ByteSize{0})};
};

} // namespace zero::phase

#endif // ZERO_PIPELINES_OPTIONS_MODEL_H
