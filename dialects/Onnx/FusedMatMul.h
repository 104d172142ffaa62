//===- FusedMatMul.h - operands of FusedMatMul ------------------*- C++ -*-===//
// ONNX Runtime's FusedMatMul permutes its operands before a MatMul. Import infers its type, and its
// expansion transposes.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ONNX_FUSEDMATMUL_H
#define DIALECTS_ONNX_FUSEDMATMUL_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"

namespace zero::onnx {

/// The permutation of an operand of `rank` dimensions: `batch` moves the first dimension behind the
/// batch dimensions, then `last` swaps the last two.
inline llvm::SmallVector<int64_t> fusedPermutation(int64_t rank, bool batch, bool last) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (batch && rank > 2)
    std::rotate(permutation.begin(), permutation.begin() + 1, permutation.end() - 1);
  if (last && rank > 1)
    std::swap(permutation[rank - 1], permutation[rank - 2]);
  return permutation;
}

} // namespace zero::onnx

#endif // DIALECTS_ONNX_FUSEDMATMUL_H
