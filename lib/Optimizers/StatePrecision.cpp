//===- StatePrecision.cpp - how states of the optimizer are stored --------===//

#include "zero/Optimizers/StatePrecision.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero {

std::string StatePrecision::parse(ArrayRef<std::string> texts) {
  for (StringRef text : texts) {
    auto [name, word] = text.split('=');
    if (word.empty())
      std::swap(name, word);
    const unsigned bits = llvm::StringSwitch<unsigned>(word)
                              .Case("f32", 32)
                              .Case("bf16", 16)
                              .Case("8bit", 8)
                              .Case("4bit", 4)
                              .Default(0);
    if (bits == 0)
      return ("--state-precision=" + text +
              ": expected f32, bf16, 8bit or 4bit, or STATE= and one of these")
          .str();
    given.emplace_back(name.str(), bits);
  }
  return "";
}

std::string StatePrecision::check(ArrayRef<GroupOptimizer> optimizers) const {
  if (isDefault())
    return "";
  llvm::SetVector<StringRef> names;
  SmallVector<std::string> states;
  for (const GroupOptimizer &group : optimizers) {
    const Optimizer &optimizer = *group.optimizer;
    names.insert(optimizer.getSettings().definition().name);
    SmallVector<ParameterState> others = optimizer.states();
    others.truncate(others.size() - optimizer.numDirectionStates());
    const bool hasOnlyDirections =
        optimizer.isOfMatrices() &&
        llvm::all_of(others, [](const ParameterState &state) { return state.isAverage; });
    if (!optimizer.isElementwise() && !hasOnlyDirections)
      return ("--state-precision: expected an optimizer without states of whole tensors, such as "
              "one that updates each element by itself, got " +
              names.back())
          .str();
    for (const ParameterState &state : optimizer.states())
      if (!state.isAverage && !llvm::is_contained(states, state.suffix))
        states.push_back(state.suffix);
  }
  for (const auto &[wanted, bits] : given)
    if (!wanted.empty() && !llvm::is_contained(states, wanted))
      return "--state-precision=" + wanted + ": expected a state of " + llvm::join(names, " or ") +
             ", which has " + (states.empty() ? "none" : llvm::join(states, ", "));
  return "";
}

unsigned StatePrecision::bitsOf(StringRef state) const {
  unsigned bits = 32;
  for (const auto &[name, own] : given)
    if (name.empty() || name == state)
      bits = own;
  return bits;
}

SmallVector<StateForm, 2> StatePrecision::formsOf(const Optimizer &optimizer, int64_t elements,
                                                  bool mayHaveCodes) const {
  SmallVector<StateForm, 2> forms;
  if (isDefault())
    return forms;
  int64_t block = kLargestBlock;
  for (const ParameterState &state : optimizer.states())
    if (bitsOf(state.suffix) == 4)
      block = 128;
  const bool hasCodes = mayHaveCodes && elements % block == 0;
  for (const ParameterState &state : optimizer.states()) {
    StateForm &form = forms.emplace_back(StateForm{state.isAverage ? 32 : bitsOf(state.suffix)});
    if (!form.hasCodes())
      continue;
    if (!hasCodes || state.init != 0) {
      form.bits = 32;
      continue;
    }
    form.block = block;
    if (state.isPositive)
      form.map = form.bits == 4 ? CodeMap::LinearPositive : CodeMap::DynamicPositive;
  }
  return forms;
}

} // namespace zero
