//===- ElementCode.h - the code of one element of nodes ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_LIFT_ELEMENTCODE_H
#define LIB_TRANSFORMS_LIFT_ELEMENTCODE_H

#include "dialects/Onnx/Onnx.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace zero {

/// Builds at `builder` what elementwise `nodes`, in order, compute for one element. `elements` maps
/// the values that they read to scalars, and gets their results. Constants of equal elements are
/// read as they are. Fails after an error at a node that is not computed element by element.
llvm::LogicalResult buildElementCode(llvm::ArrayRef<onnx::NodeOp> nodes, mlir::OpBuilder &builder,
                                     mlir::IRMapping &elements);

/// What `elements` has for `value`, or the value that a constant repeats.
mlir::Value elementOf(mlir::OpBuilder &builder, mlir::Value value, mlir::IRMapping &elements);

} // namespace zero

#endif // LIB_TRANSFORMS_LIFT_ELEMENTCODE_H
