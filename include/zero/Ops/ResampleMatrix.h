//===- ResampleMatrix.h - zero::Resample as a matrix ------------*- C++ -*-===//

#ifndef ZERO_OPS_RESAMPLEMATRIX_H
#define ZERO_OPS_RESAMPLEMATRIX_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// The matrix [elements of the operand, of the result] by which `node`, a zero::Resample,
/// multiplies its axis; null if it has too many elements for a constant.
mlir::DenseElementsAttr resampleMatrix(onnx::NodeOp node);

} // namespace zero

#endif // ZERO_OPS_RESAMPLEMATRIX_H
