//===- Passes.h - passes of lib/Codegen -------------------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_PASSES_H
#define ZERO_CODEGEN_PASSES_H

#include "zero/Options/Choices.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zero {

#define GEN_PASS_DECL
#include "include/zero/Codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "include/zero/Codegen/Passes.h.inc"

/// On a kernel: the number of iterations that threads may divide, as Kernel.extent in
/// executable.proto.
inline constexpr llvm::StringLiteral kExtentAttr = "zero.extent";

/// On a loop of a kernel for a GPU: the dependence between its iterations. A loop without the
/// attribute is sequential.
inline constexpr llvm::StringLiteral kLoopAttr = "zero.loop";
/// Independent: iterations may run in parallel.
inline constexpr llvm::StringLiteral kParallelLoop = "parallel";
/// Iterations only add to values that the loop carries, in any order.
inline constexpr llvm::StringLiteral kSumLoop = "sum";

/// On a launch whose number of blocks depends on the length: the number of elements of one block.
inline constexpr llvm::StringLiteral kPerBlockAttr = "zero.per_block";

/// On the module: the number of threads of a rank that the workspaces of library calls are planned
/// for.
inline constexpr llvm::StringLiteral kThreadsAttr = "zero.threads";

/// Whether `function` is a kernel that lib/Codegen compiles, and not a library call.
bool isNativeKernel(mlir::func::FuncOp function);

/// Whether `kernel`, of a program for GPUs, is a clone that the cores of the host run.
inline bool isHostKernel(mlir::func::FuncOp kernel) { return kernel->hasAttr(kHostKernelAttr); }

} // namespace zero

#endif // ZERO_CODEGEN_PASSES_H
