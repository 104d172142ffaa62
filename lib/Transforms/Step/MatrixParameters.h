//===- MatrixParameters.h - which parameters are matrices -------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_STEP_MATRIXPARAMETERS_H
#define LIB_TRANSFORMS_STEP_MATRIXPARAMETERS_H

#include "dialects/Zero/Zero.h"
#include "zero/Optimizers/Matrices.h"
#include "zero/Optimizers/Optimizer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace zero {

/// The read of a matrix that `value` has the elements of, or null. A dimension `dim` of `value`
/// becomes that of the matrix, or nothing if the matrix has other dimensions.
ReadOp matrixOf(mlir::Value value, std::optional<int64_t> *dim = nullptr);

/// Divides trained parameters between an optimizer of matrices and another one. Matrices are those
/// of two dimensions that a product reads, except the tables of embeddings, the head, which is read
/// by the last product before the loss, and those with more rows or columns than the optimizer
/// takes. Of more dimensions, what a product of matrices reads is one for each index of the first
/// ones; what none reads, as the weights of a convolution, has the first dimension as rows.
class MatrixParameters {
public:
  /// Those that match `included` are matrices, too, and those that match `excluded` are not, which
  /// comes first. Fails after an error if a pattern matches none, or one that has no rows and
  /// columns.
  static mlir::FailureOr<MatrixParameters>
  find(mlir::func::FuncOp step, llvm::ArrayRef<GradientOp> gradients, const Optimizer &optimizer,
       llvm::ArrayRef<std::string> included, llvm::ArrayRef<std::string> excluded);

  bool contains(ParameterOp parameter) const { return whyNot(parameter).empty(); }
  /// Which of the rows and columns of `parameter` are the outputs of the products of the forward
  /// pass that read it.
  MatrixOrientation orientationOf(ParameterOp parameter) const {
    return orientations.lookup(parameter.getSymNameAttr());
  }
  /// The shape whose last two dimensions are rows and columns: that of the whole parameter, or of
  /// two dimensions.
  llvm::SmallVector<int64_t> shapeOf(ParameterOp parameter) const;
  /// Why `parameter` is no matrix, "the head"; empty if it is one.
  llvm::StringRef whyNot(ParameterOp parameter) const {
    return reasons.lookup(parameter.getSymNameAttr());
  }

private:
  llvm::DenseMap<mlir::StringAttr, llvm::StringRef> reasons;
  llvm::DenseMap<mlir::StringAttr, MatrixOrientation> orientations;
  llvm::DenseSet<mlir::StringAttr> flattened;
};

} // namespace zero

#endif // LIB_TRANSFORMS_STEP_MATRIXPARAMETERS_H
