//===- attention_limits.cpp - what attention on a GPU takes ---------------===//

#include "runtime/device/cuda/kernels/attention_limits.h"

#include "runtime/device/cuda/kernels/attention_parameters.h"

#include <algorithm>

namespace zero::rt::cuda {

Status limitAttention(const AttentionPlan &plan, int &width, uint64_t &workspace) {
  const int64_t widest = std::max(plan.shape.width, plan.shape.valueWidth);
  const int *found =
      std::lower_bound(std::begin(kAttentionWidths), std::end(kAttentionWidths), widest);
  if (found == std::end(kAttentionWidths))
    return fail(ZERO_RT_UNSUPPORTED, "an attention on a GPU: heads wider than %d",
                kMostAttentionWidth);
  static_assert(kAttentionWidths[std::size(kAttentionWidths) - 1] == kMostAttentionWidth);
  for (const int64_t size : {plan.batch * plan.heads, plan.shape.queries, plan.shape.keys})
    if (size > INT32_MAX)
      return fail(ZERO_RT_UNSUPPORTED, "an attention on a GPU of so many heads or rows");
  width = *found;
  const uint64_t rows = uint64_t(plan.batch) * uint64_t(plan.heads) * uint64_t(plan.shape.queries);
  workspace = plan.isBackward ? 2 * rows * sizeof(float) : 0;
  return {};
}

} // namespace zero::rt::cuda
