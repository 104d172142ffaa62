//===- matmul.h - matrix products through oneDNN ----------------*- C++ -*-===//
//
// oneDNN 2.6 has two fast ways: `brg`, which takes operands without gaps and
// lets us say where its scratch lies, and `gemm:jit`, which takes any strides but
// allocates on every call. Nothing may be allocated in a step, so operands with
// gaps (one head of an attention) are packed into our own workspace and `brg` is
// called for each; `gemm:jit` remains for CPUs without AVX-512.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_MATMUL_H
#define RUNTIME_DEVICE_CPU_MATMUL_H

#include "runtime/device/cpu/matmul_plan.h"

#include <memory>

namespace zero::rt {

/// Bytes of workspace that `desc` needs on this CPU with `threads` library threads
/// per rank. Returns an error message, empty on success.
std::string zero_rt_matmul_workspace(const proto::Matmul &desc, uint64_t &bytes, int threads = 1);

/// A product ready to run, shared by all ranks.
class Matmul {
public:
  /// Makes the primitive for `threads` library threads.
  static Status create(const proto::Matmul &desc, int threads, std::unique_ptr<Matmul> &matmul);
  ~Matmul();

  uint64_t getWorkspace() const;

  /// What one thread needs to run it. Must not outlive the Matmul.
  class Call {
  public:
    ~Call();
    /// `args`: A, B, [bias], C, [workspace]. The workspace is aligned to 64 bytes.
    Status run(void *const *args);

  private:
    friend class Matmul;
    struct State;
    explicit Call(std::unique_ptr<State> state);
    std::unique_ptr<State> state;
  };
  Status makeCall(std::unique_ptr<Call> &call) const;

private:
  struct State;
  explicit Matmul(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_MATMUL_H
