//===- StepOps.h - bytes, views and names of a step's ops --------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_STEPOPS_H
#define ZERO_ANALYSIS_STEPOPS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace zero {
class GroupAttr;

/// The name of `op` in messages: its node, the symbol that it reads, or else its kind.
std::string displayName(mlir::Operation *op);

/// Bytes of a tensor of static shape; an i1 takes one byte.
int64_t tensorBytes(mlir::Type type);
/// Bytes of one element.
int64_t elementBytes(mlir::Type type);
/// Whether `op` only changes the shape of its operand.
bool isReshape(mlir::Operation *op);
/// The value that `value` is a reshape of.
mlir::Value throughReshapes(mlir::Value value);
/// The value that was moved between tiers until it became `value`.
mlir::Value throughTransfers(mlir::Value value);

/// The part of its operand's bytes that the result of a view is.
struct View {
  mlir::Value of;
  int64_t start = 0; ///< bytes of `of` before the result, on rank 0
  /// Increase of that along each axis of the mesh, in bytes; empty: none.
  llvm::SmallVector<int64_t, 1> rankStrides = {};
};

/// How an address changes along each axis of the mesh of `op`'s program if it grows by `bytes` with
/// the index of the rank in `group`.
llvm::SmallVector<int64_t, 1> rankStrides(mlir::Operation *op, GroupAttr group, int64_t bytes);

/// The view of `op`; nothing unless it is a reshape or a part of its operand, in the same bytes.
std::optional<View> viewOf(mlir::Operation *op);
bool isView(mlir::Operation *op);
/// What `value` is a view of.
mlir::Value throughViews(mlir::Value value);
/// Rebuilds `value`, a chain of views of `base`, as the same views of `other`.
mlir::Value viewLike(mlir::Value value, mlir::Value base, mlir::Value other,
                     mlir::OpBuilder &builder);

} // namespace zero

#endif // ZERO_ANALYSIS_STEPOPS_H
