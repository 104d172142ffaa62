//===- Stacks.h - tensors that are written slice by slice -------*- C++ -*-===//
// JAX's scan has its inputs and results as one tensor for all iterations. Once unrolled, a result
// is a chain of dynamic_update_slices at constant indices, one for each iteration. What was written
// is read back as the value itself, and the whole tensor is one Concat, so that the program stays
// linear in the number of iterations, in ops and in bytes.
//===----------------------------------------------------------------------===//

#ifndef LIB_PROGRAMS_STABLEHLO_STACKS_H
#define LIB_PROGRAMS_STABLEHLO_STACKS_H

#include "Emitter.h"

namespace zero::hlo {

class Stacks {
public:
  /// Takes `op` as a write to a stack: its result is pending until a value is needed. Nothing is
  /// emitted. False if its indices are not constant, or it writes more than one slice.
  bool push(stablehlo::DynamicUpdateSliceOp op, Emitter &b);

  /// The value that `op` reads from a pending stack: what was written exactly there, or a slice of
  /// the tensor below the stack; null if it reads something else.
  mlir::Value read(stablehlo::DynamicSliceOp op, Emitter &b);

  /// Whether `value` is a stack that has not been built.
  bool isPending(mlir::Value value) const { return versions.contains(value); }
  /// Builds the tensor of a pending stack.
  mlir::Value build(mlir::Value value, Emitter &b);

private:
  /// The writes of equal slices along one axis, on top of a tensor.
  struct Chain {
    mlir::Value base;
    int64_t axis, thickness;
    llvm::SmallVector<mlir::Value> writes;
    llvm::SmallVector<int64_t> offsets;
    /// For each offset the writes to it, in order.
    llvm::DenseMap<int64_t, llvm::SmallVector<unsigned>> byOffset;
    /// The last version that was built, and its value; version 0 is `base`.
    unsigned builtVersion = 0;
    mlir::Value built;
  };
  /// A chain after its first `count` writes.
  struct Version {
    Chain *chain;
    unsigned count;
  };

  static std::optional<unsigned> lastWrite(const Version &version, int64_t offset);

  std::vector<std::unique_ptr<Chain>> chains;
  llvm::DenseMap<mlir::Value, Version> versions;
};

/// The constant indices of a dynamic slice of `sizes` out of `shape`, clamped; nothing if one is
/// not constant.
std::optional<llvm::SmallVector<int64_t>> constantStarts(Emitter &b, mlir::ValueRange starts,
                                                         llvm::ArrayRef<int64_t> shape,
                                                         llvm::ArrayRef<int64_t> sizes);

} // namespace zero::hlo

#endif // LIB_PROGRAMS_STABLEHLO_STACKS_H
