//===- attention.h - attention by tiles -------------------------*- C++ -*-===//
//
// The runtime's own kernel: scores are computed, weighted and used tile by tile, so that
// memory grows with the length of a sequence, not with its square. Arguments stored in 16
// bits are converted row by row as they are packed.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_ATTENTION_H
#define RUNTIME_DEVICE_CPU_ATTENTION_H

#include "runtime/device/cpu/attention_plan.h"
#include "runtime/device/cpu/library.h"

#include <vector>

namespace zero::rt {

/// The vector code for factors of f32 that this CPU runs, fastest first.
std::vector<const AttentionCode *> attentionCodes();

/// An attention, or its gradient, ready to run.
class Attention : public LibraryKernel {
public:
  /// `threads` of them share the heads; results do not depend on how many. `code` is for factors of
  /// f32; null: the fastest.
  static Status create(const proto::Kernel &kernel, int threads,
                       std::unique_ptr<Attention> &attention, const AttentionCode *code = nullptr);

  uint64_t getWorkspace() const override;
  Status makeCall(std::unique_ptr<LibraryCall> &call) const override;

private:
  class Call;

  AttentionPlan plan;
  const AttentionCode *code = nullptr;
  int threads = 1;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_ATTENTION_H
