//===- CallAttrs.h - attributes beyond the ONNX schema ----------*- C++ -*-===//
// Attributes of ONNX operators that the ONNX schema lacks. Importers set them where the call that a
// node was exported from has such an argument, or another derivative at ties and bounds than the
// node alone (docs/reference/numbers.md).
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_CALLATTRS_H
#define ZERO_OPS_CALLATTRS_H

#include "llvm/ADT/StringRef.h"

namespace zero::ops {

/// Of a loss over classes: the share of each label that is spread over all classes.
inline constexpr llvm::StringLiteral kLabelSmoothing = "label_smoothing";
/// Of a Gather: the row of the table that gets no gradient.
inline constexpr llvm::StringLiteral kPaddingIndex = "padding_idx";
/// Of a Gather, GatherElements or GatherND: the least index that is allowed, if it is not that of
/// counting from the end.
inline constexpr llvm::StringLiteral kLeastIndex = "least_index";
/// Of a ReduceMax or ReduceMin: 1 if the gradient goes to the first of equal elements, which share
/// it otherwise.
inline constexpr llvm::StringLiteral kFirstOfEqual = "first_of_equal";
/// Of an Abs: the derivative at zero, if it is not 0.
inline constexpr llvm::StringLiteral kSlopeAtZero = "slope_at_zero";
/// Of a GatherGrad, set by zero-sort-rows: its lowering sorts the indices.
inline constexpr llvm::StringLiteral kSorted = "sorted";

} // namespace zero::ops

#endif // ZERO_OPS_CALLATTRS_H
