//===- LowerToLLVM.h - lower bufferized kernels to LLVM ---------*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_LOWERTOLLVM_H
#define LIB_CODEGEN_OBJECT_LOWERTOLLVM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// Lowers a module of bufferized kernels to the LLVM dialect: each becomes a
/// function of one pointer per argument and the iterations to run, [begin, end); the end
/// is the common length of its dynamic dimensions. Transcendental functions become polynomials,
/// booleans bytes.
llvm::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// The same for functions that run on a GPU, which may ask which thread they are: each takes
/// one pointer per buffer, aligned as kAlignedAttr says, and then the common length of its dynamic
/// dimensions.
llvm::LogicalResult lowerGpuToLLVM(mlir::ModuleOp module);

/// Gives every buffer of booleans the element type i8, 0 or 1: LLVM's vectoriser
/// leaves arrays of i1 alone. No linalg op is left in `module`.
void storeBoolsAsBytes(mlir::ModuleOp module);

/// Writes bf16 as 16-bit integers: what is loaded is extended to f32 and what is stored
/// is rounded by integer operations. Fails after an error at an op that would compute
/// in bf16. No linalg op is left in `module`.
llvm::LogicalResult storeBFloatsAsInts(mlir::ModuleOp module);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_LOWERTOLLVM_H
