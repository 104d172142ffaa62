//===- Axes.h - dimensions that nodes name ----------------------*- C++ -*-===//

#ifndef ZERO_OPS_AXES_H
#define ZERO_OPS_AXES_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// The permutation of a Transpose.
llvm::SmallVector<int64_t> permutationOf(onnx::NodeOp transpose);

/// The axes that a reduction lists as an attribute or operand, not negative and in its order; empty
/// if it lists none. Nothing if they are not constant.
std::optional<llvm::SmallVector<int64_t>> listedAxes(onnx::NodeOp reduction);

/// The columns [first, last) that a Slice takes of the last dimension, and all of the others.
/// Nothing if it takes something else, or operands that are not constant.
std::optional<std::pair<int64_t, int64_t>> slicedColumns(onnx::NodeOp slice);

} // namespace zero

#endif // ZERO_OPS_AXES_H
