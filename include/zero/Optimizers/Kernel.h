//===- Kernel.h - builders of kernels outside of the op table ---*- C++ -*-===//
// Kernels of the step that are not nodes of the model: updates, norms, scalars.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIMIZERS_KERNEL_H
#define ZERO_OPTIMIZERS_KERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace zero {

/// An empty private kernel `name` at the end of `module`. Argument firstInplace + i
/// shares its buffer with result i, for the first `numInplace` results. The caller
/// fills the entry block.
mlir::func::FuncOp startKernel(mlir::ModuleOp module, llvm::StringRef name, mlir::TypeRange inputs,
                               mlir::TypeRange results, unsigned firstInplace = 0,
                               unsigned numInplace = 0);

/// One loop over tensors of `rank` dimensions that updates `outs` in place. `body` gets the
/// elements of `outs`, then those of `ins`, and appends the new ones of `outs`. Operands of a lower
/// rank are broadcast over the last dimensions.
llvm::SmallVector<mlir::Value>
updateElements(mlir::OpBuilder &builder, mlir::Location loc, unsigned rank, mlir::ValueRange outs,
               mlir::ValueRange ins,
               llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange,
                                       llvm::SmallVectorImpl<mlir::Value> &)>
                   body);
/// The sum over each block of the squares of what `body` makes of the elements of `ins`:
/// tensor<?xf32> of tensors of blocks, tensor<?x64xT>.
mlir::Value
sumSquaresOfBlocks(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange ins,
                   llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> body);

/// The kernel (two sums of squares f64, tensor<?xf32>) -> tensor<?xf32> that repeats for each block
/// what `body` makes of the sums.
mlir::func::FuncOp
buildRatioKernel(mlir::ModuleOp module, llvm::StringRef name,
                 llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> body);

/// The index map of `operand` in such a loop.
mlir::AffineMap broadcastLast(mlir::Value operand, unsigned rank);

/// Arithmetic on scalars with the syntax of formulas.
class Formula {
public:
  Formula(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Value constant(double value, mlir::Type type);
  mlir::Value add(mlir::Value a, mlir::Value b);
  /// A summand of a sum whose order the compiler chooses, the same order in every run.
  mlir::Value unorderedAdd(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value sqrt(mlir::Value a);
  /// a * b + c, rounded once.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  /// `a` as a float of `type`, rounded or extended.
  mlir::Value cast(mlir::Value a, mlir::Type type);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value isZero(mlir::Value a);
  /// In a loop over matrices, the last two of `rank` dimensions: whether the element is on the
  /// diagonal.
  mlir::Value isOnDiagonal(unsigned rank);

  /// Converts a tensor of rank 0 to its element and back.
  mlir::Value element(mlir::Value tensor);
  mlir::Value tensor(mlir::Value element);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace zero

#endif // ZERO_OPTIMIZERS_KERNEL_H
