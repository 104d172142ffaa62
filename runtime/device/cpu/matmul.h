//===- matmul.h - matrix products through oneDNN ----------------*- C++ -*-===//
// oneDNN 2.6 has two fast implementations: `brg`, which needs operands without gaps and accepts an
// external scratchpad, and `gemm:jit`, which accepts any strides but allocates on every call. A
// step must not allocate, so operands with gaps (one head of an attention) are packed into our own
// workspace and `brg` is called for each; `gemm:jit` remains for CPUs without AVX-512.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_MATMUL_H
#define RUNTIME_DEVICE_CPU_MATMUL_H

#include "runtime/device/cpu/library.h"
#include "runtime/device/cpu/matmul_plan.h"

namespace zero::rt {

/// A product that is ready to run. Arguments: A, B, [bias], [R], C, [workspace]. Terms are added in
/// this order: the bias, R, the previous C. So R and a previous C with the same values give bitwise
/// identical results. Sums are f32, and a result in 16 bits is rounded once.
class Matmul : public LibraryKernel {
public:
  /// Makes the primitive for `threads` library threads. Products of bf16 are supported only where
  /// the CPU multiplies bf16.
  static Status create(const proto::Matmul &desc, const StoredTypes &types, int threads,
                       std::unique_ptr<Matmul> &matmul);
  ~Matmul() override;

  uint64_t getWorkspace() const override;
  Status makeCall(std::unique_ptr<LibraryCall> &call) const override;

private:
  class Call;
  struct State;
  explicit Matmul(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_MATMUL_H
