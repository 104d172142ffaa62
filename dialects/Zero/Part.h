//===- Part.h - parameters that are parts of a model's tensor ---*- C++ -*-===//

#ifndef DIALECTS_ZERO_PART_H
#define DIALECTS_ZERO_PART_H

#include "dialects/Zero/Zero.h"

namespace zero {

/// On a parameter: its `#zero.part`.
inline constexpr llvm::StringLiteral kPartAttr = "zero.part_of";

/// The part of a tensor that `parameter` holds; null for a whole tensor.
PartAttr partOf(ParameterOp parameter);

/// The name of the model's tensor that `parameter` holds, entirely or in part.
llvm::StringRef modelName(ParameterOp parameter);

/// Further names of the tensor of `op`, a parameter or state: those of tensors that the model ties
/// to it (`zero.aliases`).
llvm::SmallVector<llvm::StringRef> aliasesOf(mlir::Operation *op);

/// All names by which a user may call the model's tensor: modelName(), then its aliases.
llvm::SmallVector<llvm::StringRef> modelNames(ParameterOp parameter);

/// Elements of `parameter` for each of its state `state`: 1 for a value or an 8-bit code of each
/// element, 2 for codes of 4 bits, the elements of a block for scales.
int64_t unitOf(StateOp state, ParameterOp parameter);

} // namespace zero

#endif // DIALECTS_ZERO_PART_H
