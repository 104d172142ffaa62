//===- CrossEntropy.h - lowerings of the losses' nodes ----------*- C++ -*-===//

#ifndef LIB_OPS_CROSSENTROPY_H
#define LIB_OPS_CROSSENTROPY_H

#include "zero/Ops/OpTable.h"

namespace zero::ops {

/// Lowers CrossEntropySum, CrossEntropyRows, NllSum and NllRows.
llvm::LogicalResult lowerLossRows(onnx::NodeOp node, mlir::ValueRange inputs,
                                  mlir::OpBuilder &builder, Lowered &lowered);
/// Lowers CrossEntropyGrad and NllGrad.
llvm::LogicalResult lowerLossGrad(onnx::NodeOp node, mlir::ValueRange inputs,
                                  mlir::OpBuilder &builder, Lowered &lowered);
/// Lowers LabelWeights.
llvm::LogicalResult lowerLabelWeights(onnx::NodeOp node, mlir::ValueRange inputs,
                                      mlir::OpBuilder &builder, Lowered &lowered);
/// Lowers CheckPositive.
llvm::LogicalResult lowerCheckPositive(onnx::NodeOp node, mlir::ValueRange inputs,
                                       mlir::OpBuilder &builder, Lowered &lowered);

} // namespace zero::ops

#endif // LIB_OPS_CROSSENTROPY_H
