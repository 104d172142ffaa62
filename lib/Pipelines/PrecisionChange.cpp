//===- PrecisionChange.cpp - precisions that take fewer bytes -------------===//

#include "zero/Pipelines/PrecisionChange.h"

#include "llvm/ADT/STLExtras.h"

namespace zero {

llvm::ArrayRef<PrecisionChange> precisionChanges() {
  // docs/guides/precision.md has what they change of losses.
  static constexpr PrecisionChange changes[] = {
      {"frozen", "frozen-precision", "bf16"}, {"grads", "grad-precision", "bf16"},
      {"state", "state-precision", "bf16"},   {"frozen", "frozen-precision", "int8"},
      {"state", "state-precision", "8bit"},   {"masters", "master-weights", "none"},
      {"state", "state-precision", "4bit"},   {"frozen", "frozen-precision", "nf4"}};
  return changes;
}

std::optional<PrecisionChange> parsePrecisionChange(llvm::StringRef text) {
  auto [subject, value] = text.split(':');
  for (const PrecisionChange &change : precisionChanges())
    if (change.subject == subject && change.value == value)
      return change;
  return std::nullopt;
}

bool applyChanges(PhaseOptions &options, llvm::ArrayRef<PrecisionChange> changes) {
  for (const PrecisionChange &change : changes) {
    if (change.subject == "state")
      options.step.statePrecision.clear(); // a list, which would grow
    if (!options.set(change.option, change.value).empty())
      return false;
  }
  return llvm::all_of(changes, [&](const PrecisionChange &change) {
    return options.idleWith(change.option).empty() && options.wrongValue(change.option).empty();
  });
}

} // namespace zero
