//===- MatmulMatcher.h - kernels that are one matrix product ----*- C++ -*-===//

#ifndef LIB_CODEGEN_KERNELS_MATMULMATCHER_H
#define LIB_CODEGEN_KERNELS_MATMULMATCHER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// The fields of the message Matmul in runtime/format/executable.proto.
struct Matmul {
  int64_t m = 1, n = 1, k = 1;
  llvm::SmallVector<int64_t> batch;
  llvm::SmallVector<int64_t> aStrides, bStrides, cStrides; ///< elements; batch first
  float alpha = 1;
  bool bias = false, accumulate = false, residual = false;

  /// Whether the library first reorders all of B. Depends only on the shape, and holds where
  /// measurements showed it to be faster ("Choice of call" in docs/benchmarks.md).
  bool reordersB() const;

  /// Whether an operand or C is contiguous along a dimension of the batch, and not along its rows
  /// or columns: a library would copy each matrix, or read it element by element.
  bool isBatchInnermost() const;
};

/// A product and the arguments of the kernel that are its A, B, bias and
/// residual; the residual of one that accumulates is C.
struct MatchedMatmul {
  Matmul matmul;
  llvm::SmallVector<unsigned> arguments;
};

/// Matches if `kernel` computes one matrix product in f32 and nothing else. Its operands and result
/// may be stored in 16 bits.
std::optional<MatchedMatmul> matchMatmul(mlir::func::FuncOp kernel);

} // namespace zero

#endif // LIB_CODEGEN_KERNELS_MATMULMATCHER_H
