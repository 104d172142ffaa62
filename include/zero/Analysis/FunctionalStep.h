//===- FunctionalStep.h - a step that takes and returns state ---*- C++ -*-===//

#ifndef ZERO_ANALYSIS_FUNCTIONALSTEP_H
#define ZERO_ANALYSIS_FUNCTIONALSTEP_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On an argument of a step that returns its state: the symbol that has its initial value. See
/// zero-return-state.
inline constexpr llvm::StringLiteral kStateAttr = "zero.state";

/// The opset of ai.onnx of emitted graphs.
inline constexpr int64_t kEmittedOpset = 21;

} // namespace zero

#endif // ZERO_ANALYSIS_FUNCTIONALSTEP_H
