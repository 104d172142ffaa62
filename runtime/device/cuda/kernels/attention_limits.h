//===- attention_limits.h - what attention on a GPU takes -------*- C++ -*-===//
//
// The compiler and the runtime decide by it which attention becomes a call, and plan its workspace.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_LIMITS_H
#define RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_LIMITS_H

#include "runtime/device/cpu/attention_plan.h"
#include "runtime/support/status.h"

namespace zero::rt::cuda {

/// The widest heads.
inline constexpr int kMostAttentionWidth = 128;

/// Fails if no kernel takes `plan`. `width`: the padded width of the kernels that do; `workspace`:
/// bytes, two floats for each row of a gradient.
Status limitAttention(const AttentionPlan &plan, int &width, uint64_t &workspace);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_LIMITS_H
