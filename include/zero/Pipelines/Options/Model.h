//===- Model.h - options of the phases that read a model ---*- C++ -*-===//

#ifndef ZERO_PIPELINES_OPTIONS_MODEL_H
#define ZERO_PIPELINES_OPTIONS_MODEL_H

#include "zero/Pipelines/Options/Group.h"

namespace zero::phase {

/// What the model is, and what of it is trained.
struct ImportOptions : Group {
  using Group::Group;

  Option<std::string> dataRoot{
      parent, "data-root", llvm::cl::desc("where referenced data lies, when not beside the model"),
      llvm::cl::value_desc("folder")};
  Option<bool> forwardOnly{parent, "forward-only",
                           llvm::cl::desc("compile the model as it is: all outputs, no training")};
  Option<std::string> trainable{
      parent, "trainable",
      llvm::cl::desc(
          "train exactly the parameters (names or globs) listed in this file, and freeze "
          "the others"),
      llvm::cl::value_desc("file")};
  ListOption<std::string> freeze{parent, "freeze",
                                 llvm::cl::desc("do not train parameters that match these globs"),
                                 llvm::cl::value_desc("pattern,...")};
  ListOption<std::string> freezeAllBut{
      parent, "freeze-all-but", llvm::cl::desc("train only the parameters that match these globs"),
      llvm::cl::value_desc("pattern,...")};
  Option<bool> verbose{parent, "verbose",
                       llvm::cl::desc("list everything that is trained, or that an error is "
                                      "about (-v)")};
};

/// What nodes of the model mean.
struct RecogniseOptions : Group {
  using Group::Group;

  Option<uint64_t> seed{parent, "seed", llvm::cl::desc("seed of Dropout's random numbers (0)"),
                        llvm::cl::init(0), llvm::cl::value_desc("N")};
  WordOption<LossMean> lossMean{
      parent, "loss-mean",
      llvm::cl::desc("mean over labels: of all ranks' labels, or of each rank's, averaged"),
      llvm::cl::init(LossMean::Global)};
  Option<bool> syncBatchNorm{
      parent, "sync-batchnorm",
      llvm::cl::desc("BatchNormalization: statistics over the batches of all ranks")};
};

/// How values are stored, and how the loss is scaled.
struct PrecisionOptions : Group {
  using Group::Group;

  WordOption<Precision> stored{
      parent, "precision",
      llvm::cl::desc("store parameters, gradients and activations in 16 bits (fp32)"),
      llvm::cl::init(Precision::F32)};
  WordOption<HalfPrecision> frozen{
      parent, "frozen-precision",
      llvm::cl::desc("store frozen parameters in 16 bits: bf16 or fp16 (as the others)")};
  Option<double> lossScale{
      parent, "loss-scale",
      llvm::cl::desc("fp16: scale of the loss; 0, the default: found and adapted as it goes"),
      llvm::cl::init(0.0)};
  Option<double> initialLossScale{parent, "initial-loss-scale",
                                  llvm::cl::desc("fp16: where adapting starts (65536)"),
                                  llvm::cl::init(65536.0)};
  Option<double> minLossScale{parent, "min-loss-scale",
                              llvm::cl::desc("fp16: the smallest scale to try (1)"),
                              llvm::cl::init(1.0)};
  Option<unsigned> lossScaleWindow{
      parent, "loss-scale-window",
      llvm::cl::desc("fp16: steps without overflow after which the scale doubles (1000)"),
      llvm::cl::init(1000), llvm::cl::value_desc("N")};
  Option<unsigned> lossScaleHysteresis{parent, "loss-scale-hysteresis",
                                       llvm::cl::desc("fp16: overflows until the scale halves (1)"),
                                       llvm::cl::init(1), llvm::cl::value_desc("N")};
};

/// What is cut before the gradient is added.
struct DifferentiateOptions : Group {
  using Group::Group;

  Option<ByteSize> tileParamsOver{
      parent, "tile-params-over",
      llvm::cl::desc("cut parameters above this, and what reads them, into tiles that are "
                     "gathered one at a time (0: none); sums of backward round otherwise"),
      llvm::cl::init(ByteSize{0})};
};

} // namespace zero::phase

#endif // ZERO_PIPELINES_OPTIONS_MODEL_H
