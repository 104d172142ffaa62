//===- BatchDims.h - dimensions that nodes work along -----------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PROGRAM_BATCHDIMS_H
#define LIB_TRANSFORMS_PROGRAM_BATCHDIMS_H

#include "dialects/Onnx/Onnx.h"

#include <optional>

namespace zero {

/// Whether `node` reduces along axes that are an operand or attribute.
bool isReduction(onnx::NodeOp node);
/// The axes of a reduction, not negative. Fails if they are not constant.
llvm::FailureOr<llvm::SmallVector<int64_t>> reducedAxes(onnx::NodeOp node);
/// The attribute `axis` of `node`, 0 if absent, as a dimension of a tensor of `rank` dimensions.
int64_t normalAxis(onnx::NodeOp node, int64_t rank);
/// The axes along which `node` works, if it treats all other dimensions alike, such as softmax,
/// concatenation and slices with constant axes; nothing for other nodes.
std::optional<llvm::SmallVector<int64_t>> workingAxes(onnx::NodeOp node);
/// Whether `operand` of such a node is a list or a number rather than data.
bool isSetting(onnx::NodeOp node, mlir::OpOperand &operand);
/// The dimension of shape `to` that holds dimension `dim` of shape `from` as its outermost part, if
/// the elements of each of `parts` equal parts of one are a part of the other.
std::optional<int64_t> dimAfterReshape(llvm::ArrayRef<int64_t> from, int64_t dim,
                                       llvm::ArrayRef<int64_t> to, int64_t parts);
/// `value` with the shape `shape`, which has fewer indices along `dim`, if it has the same elements
/// at all indices along it; null otherwise.
mlir::DenseElementsAttr shortened(mlir::DenseElementsAttr value, int64_t dim,
                                  llvm::ArrayRef<int64_t> shape);
/// Whether `value` is a tensor of zeros, possibly expanded.
bool isZero(mlir::Value value);
bool isFloatTensor(mlir::Value value);

} // namespace zero

#endif // LIB_TRANSFORMS_PROGRAM_BATCHDIMS_H
