//===- EmittedAttrs.h - what passes note for the emitter --------*- C++ -*-===//
// Discardable attributes that no pass reads: an executable has them.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_EMITTEDATTRS_H
#define DIALECTS_ZERO_EMITTEDATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// On a counter: its value in a run that resumes after some steps of one without it: that number,
/// or a float that is this value.
inline constexpr llvm::StringLiteral kLateAttr = "zero.late";
/// On an argument of the step whose numbers choose rows of embeddings: the rows of the smallest one
/// (i64).
inline constexpr llvm::StringLiteral kVocabularyAttr = "zero.vocabulary";
/// On a launch that reads the gradient of one tensor rather than of a bucket: the element of the
/// rank's slice of the bucket that it starts at, and the elements of this slice (i64).
inline constexpr llvm::StringLiteral kGradientStartAttr = "zero.gradient_start";

/// On the module: the type of sums of gradients over micro-batches, if it is not f32 (type).
inline constexpr llvm::StringLiteral kGradPrecisionAttr = "zero.grad_precision";

} // namespace zero

#endif // DIALECTS_ZERO_EMITTEDATTRS_H
