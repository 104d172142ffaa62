//===- Part.h - parameters that are parts of a model's tensor ---*- C++ -*-===//

#ifndef DIALECTS_ZERO_PART_H
#define DIALECTS_ZERO_PART_H

#include "dialects/Zero/Zero.h"

namespace zero {

/// On a parameter: the Part that it is. Its initial values (`data`) are the whole tensor's.
inline constexpr llvm::StringLiteral kPartAttr = "zero.part";

/// Indices [begin, begin + the parameter's own) of dimension `axis`, of `extent` indices, of
/// the model's tensor `of`. What the parts are is one tensor to users: its name, its
/// initial values, its place in a checkpoint.
struct Part {
  llvm::StringRef of;
  int64_t axis = 0, begin = 0, extent = 0;
};

/// Which part `parameter` is; nothing for a whole tensor.
std::optional<Part> partOf(ParameterOp parameter);
void setPart(ParameterOp parameter, const Part &part);

/// The name of the model's tensor that `parameter` is, or is a part of.
llvm::StringRef modelName(ParameterOp parameter);

/// Further names of the tensor that `op`, a parameter or state, is: those of tensors that
/// the user's model ties to it (`zero.aliases`).
llvm::SmallVector<llvm::StringRef> aliasesOf(mlir::Operation *op);

/// All names by which a user may call the model's tensor: modelName(), then its aliases.
llvm::SmallVector<llvm::StringRef> modelNames(ParameterOp parameter);

} // namespace zero

#endif // DIALECTS_ZERO_PART_H
