//===- Choices.h - values of options of several phases ----------*- C++ -*-===//

#ifndef ZERO_OPTIONS_CHOICES_H
#define ZERO_OPTIONS_CHOICES_H

#include "zero/Options/Words.h"

#include "dialects/Zero/Zero.h"

namespace zero {

/// The element type of parameters, gradients and activations in memory, and of the sums of
/// gradients.
enum class Precision { F32, BF16, F16 };
inline llvm::ArrayRef<Word<Precision>> wordsOf(Precision) {
  static constexpr Word<Precision> words[] = {
      {Precision::F32, "fp32"}, {Precision::BF16, "bf16"}, {Precision::F16, "fp16"}};
  return words;
}

/// How frozen parameters are stored: in a type of 16 bits, or their matrices in blocks of codes.
enum class FrozenPrecision { BF16, F16, NF4, Int8, FP8 };
inline llvm::ArrayRef<Word<FrozenPrecision>> wordsOf(FrozenPrecision) {
  static constexpr Word<FrozenPrecision> words[] = {{FrozenPrecision::BF16, "bf16"},
                                                    {FrozenPrecision::F16, "fp16"},
                                                    {FrozenPrecision::NF4, "nf4"},
                                                    {FrozenPrecision::Int8, "int8"},
                                                    {FrozenPrecision::FP8, "fp8"}};
  return words;
}
/// Whether matrices are stored as codes.
inline bool isInBlocks(FrozenPrecision precision) { return precision >= FrozenPrecision::NF4; }

/// The labels of the mean of the loss: those of all ranks, or those of each rank, averaged over
/// ranks.
enum class LossMean { Global, Local };
inline llvm::ArrayRef<Word<LossMean>> wordsOf(LossMean) {
  static constexpr Word<LossMean> words[] = {{LossMean::Global, "global"},
                                             {LossMean::Local, "local"}};
  return words;
}

/// The values that backward recomputes without a plan.
enum class Recompute { Cheap, None };
inline llvm::ArrayRef<Word<Recompute>> wordsOf(Recompute) {
  static constexpr Word<Recompute> words[] = {{Recompute::Cheap, "cheap"},
                                              {Recompute::None, "none"}};
  return words;
}

/// How attention is computed: as one kernel where the device has one, which stores no matrix of
/// queries by keys, or as products and a softmax.
enum class AttentionKernels { Fused, Products };
inline llvm::ArrayRef<Word<AttentionKernels>> wordsOf(AttentionKernels) {
  static constexpr Word<AttentionKernels> words[] = {{AttentionKernels::Fused, "fused"},
                                                     {AttentionKernels::Products, "products"}};
  return words;
}

/// The device of kernels.
enum class Device { Cpu, Cuda };
inline llvm::ArrayRef<Word<Device>> wordsOf(Device) {
  static constexpr Word<Device> words[] = {{Device::Cpu, "cpu"}, {Device::Cuda, "cuda"}};
  return words;
}

/// The values that layers save for backward: all that it reads, the values between layers, or the
/// values between groups of layers.
enum class Checkpoint { None, Layer, Sqrt };
inline llvm::ArrayRef<Word<Checkpoint>> wordsOf(Checkpoint) {
  static constexpr Word<Checkpoint> words[] = {
      {Checkpoint::None, "none"}, {Checkpoint::Layer, "layer"}, {Checkpoint::Sqrt, "sqrt"}};
  return words;
}

/// The ranks over which stage 3 shards parameters: all, or those of a node, so that each node has
/// all parameters (ZeRO++'s hpZ, MiCS).
enum class ShardParams { All, Node };
inline llvm::ArrayRef<Word<ShardParams>> wordsOf(ShardParams) {
  static constexpr Word<ShardParams> words[] = {{ShardParams::All, "all"},
                                                {ShardParams::Node, "node"}};
  return words;
}

/// When gradients are summed over ranks: after the last micro-batch, or after each.
enum class GradReduce { Last, Each };
inline llvm::ArrayRef<Word<GradReduce>> wordsOf(GradReduce) {
  static constexpr Word<GradReduce> words[] = {{GradReduce::Last, "last"},
                                               {GradReduce::Each, "each"}};
  return words;
}

/// The order of the work of several micro-batches: each one as a whole, or each part of the step
/// for all of them.
enum class MicroBatchOrder { Horizontal, Vertical };
inline llvm::ArrayRef<Word<MicroBatchOrder>> wordsOf(MicroBatchOrder) {
  static constexpr Word<MicroBatchOrder> words[] = {{MicroBatchOrder::Horizontal, "horizontal"},
                                                    {MicroBatchOrder::Vertical, "vertical"}};
  return words;
}

/// Whether a planner chooses the stage. The default has no word.
enum class ZeroMode { Given, Auto };
inline llvm::ArrayRef<Word<ZeroMode>> wordsOf(ZeroMode) {
  static constexpr Word<ZeroMode> words[] = {{ZeroMode::Auto, "auto"}};
  return words;
}

/// The names of tiers are those of the dialect.
inline llvm::ArrayRef<Word<Tier>> wordsOf(Tier) {
  static const std::vector<Word<Tier>> words = [] {
    std::vector<Word<Tier>> all;
    for (unsigned i = 0; i <= getMaxEnumValForTier(); ++i)
      if (std::optional<Tier> tier = symbolizeTier(i))
        all.push_back({*tier, stringifyTier(*tier)});
    return all;
  }();
  return words;
}

} // namespace zero

#endif // ZERO_OPTIONS_CHOICES_H
