//===- PrecisionChange.h - precisions that take fewer bytes -----*- C++ -*-===//

#ifndef ZERO_PIPELINES_PRECISIONCHANGE_H
#define ZERO_PIPELINES_PRECISIONCHANGE_H

#include "zero/Pipelines/PhaseOptions.h"

#include <optional>

namespace zero {

/// An option of precision with a value that takes fewer bytes and changes numbers.
struct PrecisionChange {
  llvm::StringRef subject;       ///< of the flag --allow-precision: "state" of "state:8bit"
  llvm::StringRef option, value; ///< "state-precision", "8bit"

  std::string flag() const { return ("--" + option + "=" + value).str(); }
};

/// All of them; those that change numbers least come first, and of an option those with more bytes.
llvm::ArrayRef<PrecisionChange> precisionChanges();

/// The change that `text` names, "state:8bit".
std::optional<PrecisionChange> parsePrecisionChange(llvm::StringRef text);

/// `options` with `changes`; false if one of them has no effect or is an error there.
bool applyChanges(PhaseOptions &options, llvm::ArrayRef<PrecisionChange> changes);

} // namespace zero

#endif // ZERO_PIPELINES_PRECISIONCHANGE_H
