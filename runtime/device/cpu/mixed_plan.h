//===- mixed_plan.h - plan a kernel with 16-bit arguments -------*- C++ -*-===//
//
// Copies in f32 of full arguments would take more memory than 16 bits save, so a large product runs
// as blocks of its rows, columns or batch. Only the operands of a block are copied, and operands
// that all blocks need are copied once. Pure arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_MIXED_PLAN_H
#define RUNTIME_DEVICE_CPU_MIXED_PLAN_H

#include "runtime/format/format.h"
#include "runtime/support/dtype.h"

#include <optional>
#include <vector>

namespace zero::rt {

/// An argument of a block and, where it is stored in 16 bits, its f32 copy.
struct MixedArgument {
  /// One dimension of the stored elements; copies are row-major, the first dimension outermost.
  struct Dim {
    uint64_t count;
    int64_t stride;
  };

  DType stored = ZERO_RT_F32; ///< F32: no copy
  std::vector<Dim> dims;
  int64_t step = 0; ///< stored elements to the next block; 0: all blocks have the same
  bool isRead = true, isWritten = false;
  uint64_t offset = 0; ///< of the copy, bytes behind the inner kernel's workspace

  bool isCopied() const { return stored != ZERO_RT_F32; }
  uint64_t elements() const;
};

/// One block: the kernel on f32 copies, and a description of its arguments.
struct MixedPart {
  proto::Kernel kernel;
  std::vector<MixedArgument> arguments;

  /// The bytes of all copies.
  uint64_t bytes() const;
};

struct MixedPlan {
  uint64_t blocks = 1;
  MixedPart main;
  std::optional<MixedPart> rest; ///< the last block, if it is smaller; copies as in `main`
};

/// Fails with an error that names the reason unless `kernel`, a product or a convolution, stores as
/// many arguments as it has, in types that are known, and a residual like C.
Status checkStored(const proto::Kernel &kernel);

/// Fails with an error that names the reason if `kernel` is not a product or convolution of known
/// types, or if its plan rejects it.
Status planMixed(const proto::Kernel &kernel, MixedPlan &plan);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_MIXED_PLAN_H
