//===- StridedView.h - layouts of tensors in buffers ------------*- C++ -*-===//

#ifndef LIB_CODEGEN_KERNELS_STRIDEDVIEW_H
#define LIB_CODEGEN_KERNELS_STRIDEDVIEW_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace zero {

/// Element (i0, i1, ..) of a tensor is at the sum of index * stride, in elements of the buffer. A
/// stride of 0 repeats elements.
struct StridedView {
  llvm::SmallVector<int64_t> shape, strides;

  static StridedView rowMajor(llvm::ArrayRef<int64_t> shape);
  /// Merges neighbours; nothing when they are not evenly spaced.
  std::optional<StridedView> collapse(llvm::ArrayRef<mlir::ReassociationIndices> groups) const;
  /// Splits dimensions to `shape`.
  StridedView expand(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<mlir::ReassociationIndices> groups) const;
};

/// The view that a chain of reshapes, transposes, broadcasts and extensions of 16-bit
/// floats makes of a block argument of static shape, or nothing.
struct ArgumentView {
  mlir::BlockArgument argument;
  StridedView view;
};
std::optional<ArgumentView> viewOfArgument(mlir::Value value);

/// Looks through one reshape, transpose or rounding to 16 bits: given the layout of `value` in a
/// buffer, computes that of its source. Changes `value` and all `views`, which have its shape.
bool stepToSource(mlir::Value &value, llvm::MutableArrayRef<StridedView> views);

/// The stride in an operand of each dimension of the iteration space of a linalg op; 0 for a
/// dimension that does not occur. Returns nothing for other index maps.
std::optional<llvm::SmallVector<int64_t>> loopStrides(mlir::AffineMap map, const StridedView &view);

} // namespace zero

#endif // LIB_CODEGEN_KERNELS_STRIDEDVIEW_H
