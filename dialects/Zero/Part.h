//===- Part.h - parameters that are parts of a model's tensor ---*- C++ -*-===//

#ifndef DIALECTS_ZERO_PART_H
#define DIALECTS_ZERO_PART_H

#include "dialects/Zero/Zero.h"

namespace zero {

/// On a parameter: the `#zero.part` that it is.
inline constexpr llvm::StringLiteral kPartAttr = "zero.part";

/// Which part `parameter` is; null for a whole tensor.
PartAttr partOf(ParameterOp parameter);

/// The name of the model's tensor that `parameter` is, or is a part of.
llvm::StringRef modelName(ParameterOp parameter);

/// Further names of the tensor that `op`, a parameter or state, is: those of tensors that
/// the user's model ties to it (`zero.aliases`).
llvm::SmallVector<llvm::StringRef> aliasesOf(mlir::Operation *op);

/// All names by which a user may call the model's tensor: modelName(), then its aliases.
llvm::SmallVector<llvm::StringRef> modelNames(ParameterOp parameter);

} // namespace zero

#endif // DIALECTS_ZERO_PART_H
