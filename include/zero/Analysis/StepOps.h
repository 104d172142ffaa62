//===- StepOps.h - bytes, views and names of a step's ops --------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_STEPOPS_H
#define ZERO_ANALYSIS_STEPOPS_H

#include "mlir/IR/Builders.h"

#include <optional>
#include <string>

namespace zero {

/// How messages name `op` of the step: by its node, by what it reads, or else by what it is.
std::string displayName(mlir::Operation *op);

/// Bytes of a tensor of static shape; an i1 takes one byte.
int64_t tensorBytes(mlir::Type type);
/// Bytes of one element.
int64_t elementBytes(mlir::Type type);
/// Whether `op` gives the same bytes another shape.
bool isReshape(mlir::Operation *op);
/// The value that `value` is a reshape of.
mlir::Value throughReshapes(mlir::Value value);
/// What the result of an op shows of its operand's bytes.
struct View {
  mlir::Value of;
  int64_t start = 0;      ///< bytes of `of` before the result, on rank 0
  int64_t rankStride = 0; ///< bytes by which that grows from rank to rank
};

/// What `op` shows; nothing unless it is a reshape or a part of its operand, in the same bytes.
std::optional<View> viewOf(mlir::Operation *op);
bool isView(mlir::Operation *op);
/// What `value` is a view of.
mlir::Value throughViews(mlir::Value value);
/// `value`, views of `base`, as the same views of `other`, built anew.
mlir::Value viewLike(mlir::Value value, mlir::Value base, mlir::Value other,
                     mlir::OpBuilder &builder);

} // namespace zero

#endif // ZERO_ANALYSIS_STEPOPS_H
