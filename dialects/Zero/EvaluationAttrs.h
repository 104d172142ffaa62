//===- EvaluationAttrs.h - what an evaluation does not execute --*- C++ -*-===//

#ifndef DIALECTS_ZERO_EVALUATIONATTRS_H
#define DIALECTS_ZERO_EVALUATIONATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On a launch: it hands the next value of a state to the next micro-batch. An evaluation must not
/// execute it; see zero-verify-evaluation.
inline constexpr llvm::StringLiteral kCarriesAttr = "zero.carries";
/// On a check: an evaluation goes on where it fails, because nothing is updated.
inline constexpr llvm::StringLiteral kTrainingOnlyAttr = "zero.training_only";

} // namespace zero

#endif // DIALECTS_ZERO_EVALUATIONATTRS_H
