//===- Adapters.h - options of low-rank adapters ----------------*- C++ -*-===//

#ifndef ZERO_PIPELINES_OPTIONS_ADAPTERS_H
#define ZERO_PIPELINES_OPTIONS_ADAPTERS_H

#include "zero/Pipelines/Options/Group.h"

namespace zero {

/// The initial values of the first matrix of an adapter: those of torch.nn.Linear, or normal.
enum class AdapterInit { KaimingUniform, Gaussian };
inline llvm::ArrayRef<Word<AdapterInit>> wordsOf(AdapterInit) {
  static constexpr Word<AdapterInit> words[] = {{AdapterInit::KaimingUniform, "kaiming-uniform"},
                                                {AdapterInit::Gaussian, "gaussian"}};
  return words;
}

namespace phase {

/// Options of the adapters that are added to products. Their initial values are those of
/// zero.lora, in Python.
struct AdapterOptions : Group {
  using Group::Group;

  ListOption<std::string> targets{
      parent, "lora",
      ofStep(needs::training).inShort("Model", "modules that get trained low-rank adapters"),
      llvm::cl::desc("freeze the model and train low-rank adapters (LoRA) of the products of these "
                     "modules: ends of their names, as q_proj, globs, or all-linear: all products "
                     "but those of output layers"),
      llvm::cl::value_desc("pattern,...")};
  Option<unsigned> rank{parent,
                        "lora-rank",
                        ofStep(needs::adapters).atLeastOne(),
                        llvm::cl::desc("rows of A and columns of B of an adapter, which adds "
                                       "alpha / rank * B A x"),
                        llvm::cl::init(8),
                        llvm::cl::value_desc("N")};
  Option<double> alpha{parent, "lora-alpha", ofStep(needs::adapters).positive(),
                       llvm::cl::desc("scale of adapters, which is divided by their rank"),
                       llvm::cl::init(16.0)};
  Option<double> dropout{parent, "lora-dropout",
                         ofStep(needs::adapters).within(0, 0.999999, "a number from 0 to below 1"),
                         llvm::cl::desc("share of the inputs of adapters that are set to 0"),
                         llvm::cl::init(0.0)};
  WordOption<AdapterInit> init{parent, "lora-init", ofStep(needs::adapters),
                               llvm::cl::desc("initial values of A, as PEFT draws them; B is 0"),
                               llvm::cl::init(AdapterInit::KaimingUniform)};
  Option<bool> rankStabilized{
      parent, "rslora", ofStep(needs::adapters),
      llvm::cl::desc("divide --lora-alpha by the square root of the rank instead (rsLoRA)")};
  Option<bool> dora{parent, "dora", ofStep(needs::adapters),
                    llvm::cl::desc("also train the magnitudes of adapted weights: one number for "
                                   "each output, to which their norm is scaled (DoRA)")};

  /// The factor of what adapters add.
  double scale() const;
  /// The options with their values as text.
  std::vector<std::pair<std::string, std::string>> settings() const;
};

} // namespace phase
} // namespace zero

#endif // ZERO_PIPELINES_OPTIONS_ADAPTERS_H
