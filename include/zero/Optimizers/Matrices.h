//===- Matrices.h - formulas on whole matrices ------------------*- C++ -*-===//
// What optimizers of matrices are written in: products, and loops over elements. Each is a launch
// of a kernel in the step, so products are calls of a library. Nothing here knows of ranks.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIMIZERS_MATRICES_H
#define ZERO_OPTIMIZERS_MATRICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace zero {

/// How products of the model read a matrix.
enum class MatrixOrientation {
  Unknown, ///< products differ, or none reads its rows and columns
  OutputsFirst,
  InputsFirst,
};

/// Adds the formulas of one step to `builder`. The last two dimensions of a tensor are those of its
/// matrices, the others number them.
class MatrixBuilder {
public:
  using Kernels = llvm::StringMap<mlir::func::FuncOp>;
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

  /// `kernels` has those that were made for the same optimizer; the names of new ones begin with
  /// `prefix`. Launches have the name `name`.
  MatrixBuilder(mlir::ModuleOp module, mlir::OpBuilder &builder, mlir::Location loc,
                Kernels &kernels, llvm::StringRef prefix, llvm::StringRef name,
                MatrixOrientation orientation)
      : module(module), builder(builder), loc(loc), kernels(kernels), prefix(prefix), name(name),
        orientation(orientation) {}

  /// Of the matrix that the formulas are for.
  MatrixOrientation getOrientation() const { return orientation; }

  /// a * b. Products sum in f32, and round once to `element` if it is given.
  mlir::Value product(mlir::Value a, mlir::Value b, mlir::Type element = {}) {
    return multiply(a, b, element, false, false);
  }
  /// a * transposed a.
  mlir::Value gramOfRows(mlir::Value a, mlir::Type element = {}) {
    return multiply(a, a, element, false, true);
  }
  /// transposed a * a.
  mlir::Value gramOfColumns(mlir::Value a, mlir::Type element = {}) {
    return multiply(a, a, element, true, false);
  }
  /// A tensor of the shape of the first operand, of type `element` or without it of that of the
  /// operand, that `body` computes, a formula of one kernel. The same `formula` must be the same
  /// body for the same types.
  mlir::Value compute(llvm::StringRef formula, mlir::ValueRange operands, Body body,
                      mlir::Type element = {});

  /// Multiplications and additions of all products so far.
  double countOperations() const { return operations; }

private:
  mlir::Value multiply(mlir::Value a, mlir::Value b, mlir::Type element, bool transposeA,
                       bool transposeB);
  mlir::Value launch(llvm::StringRef formula, mlir::ValueRange operands,
                     mlir::RankedTensorType result, Body body);

  mlir::ModuleOp module;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  Kernels &kernels;
  std::string prefix, name;
  MatrixOrientation orientation;
  double operations = 0;
};

} // namespace zero

#endif // ZERO_OPTIMIZERS_MATRICES_H
