//===- OperandCasts.h - convert operands of library calls -------*- C++ -*-===//

#ifndef LIB_CODEGEN_KERNELS_OPERANDCASTS_H
#define LIB_CODEGEN_KERNELS_OPERANDCASTS_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// The element types in which cuBLASLt takes the operands of a product, given their `types` as
/// stored: A, B, [bias], [residual], C. A and B have one type, which is that of C unless C is f32;
/// what is added has the type of C. Each product that does not comply gets operands of the type of
/// C: so an f32 operand of a product with 16-bit results is rounded once, and no other value is.
llvm::SmallVector<mlir::Type> operandTypesOnGpu(llvm::ArrayRef<mlir::Type> types);

/// Lets launches convert operands of library kernels to other element types, each by the launch of
/// a kernel of its own.
class OperandCasts {
public:
  explicit OperandCasts(mlir::ModuleOp module) : module(module) {}

  /// Makes `element` the element type of argument `index` of `kernel`.
  void change(mlir::func::FuncOp kernel, unsigned index, mlir::Type element);

  /// Inserts the conversions of the inputs of `launch`, a launch of a kernel that was changed.
  void convertInputs(LaunchOp launch);

private:
  mlir::func::FuncOp kernelFor(mlir::RankedTensorType from, mlir::RankedTensorType to);

  mlir::ModuleOp module;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Type>, mlir::func::FuncOp> kernels;
};

} // namespace zero

#endif // LIB_CODEGEN_KERNELS_OPERANDCASTS_H
