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

/// Gives `kernel`, which has no iterations to share, `begin` and `end`. lowerToLLVM does so, unless
/// it has them.
void addRange(mlir::func::FuncOp kernel);

/// The same for functions that run on a GPU and may ask for their thread number. Each takes one
/// pointer per buffer, aligned where it has kAlignedAttr, followed by the common length of its
/// dynamic dimensions.
llvm::LogicalResult lowerGpuToLLVM(mlir::ModuleOp module);

/// Expands exp and log of doubles to arithmetic, for devices without a C library.
void expandDoubleFunctions(mlir::ModuleOp module);

/// Gives every buffer of booleans the element type i8, 0 or 1: LLVM's vectoriser
/// leaves arrays of i1 alone. No linalg op is left in `module`.
void storeBoolsAsBytes(mlir::ModuleOp module);

/// Represents bf16 as 16-bit integers: loaded values are extended to f32 and stored values are
/// rounded, both by integer operations, or rounded by one operation of a target that has it
/// (`hasRounding`). Fails after an error at an op that would compute in bf16. `module` must not
/// contain linalg ops.
llvm::LogicalResult storeBFloatsAsInts(mlir::ModuleOp module, bool hasRounding);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_LOWERTOLLVM_H
