//===- attention_plan.h - check and plan an attention -----------*- C++ -*-===//
// Converts an Attention of the program to the addresses of each head's rows in the arguments, and
// the workspace of its tiles. Pure arithmetic: the runtime uses it to check the range of a kernel
// before anything runs, the compiler to plan workspace.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_ATTENTION_PLAN_H
#define RUNTIME_DEVICE_CPU_ATTENTION_PLAN_H

#include "runtime/device/cpu/attention_tiles.h"
#include "runtime/format/format.h"

#include <array>
#include <optional>
#include <vector>

namespace zero::rt {

/// Heads of rows inside an argument; a start and strides in bytes.
struct HeadsPlan {
  size_t argument = 0;
  int64_t start = 0;
  int64_t batch = 0, head = 0, row = 0;
};

/// A mask that is an argument; strides in bytes.
struct MaskPlan {
  size_t argument = 0;
  int64_t batch = 0, head = 0, query = 0, key = 0;
};

/// Segments of queries and of keys: two arguments; strides in elements.
struct SegmentsPlan {
  size_t queries = 0; ///< argument; that of keys follows
  int64_t queryBatch = 0, keyBatch = 0;
};

struct AttentionPlan {
  /// The arguments of a launch, without the workspace.
  struct Argument {
    zero_rt_dtype stored;
    uint64_t bytes; ///< to behind the last element that is read or written
  };

  bool isBackward = false;
  zero_rt_dtype factors = ZERO_RT_F32; ///< of products: f32, f16 (on GPUs alone) or bf16
  bool isHalf() const { return factors != ZERO_RT_F32; }
  int64_t batch = 0, heads = 0, groups = 0;
  AttentionShape shape{};
  AttentionLayout layout{};
  std::vector<Argument> arguments;
  HeadsPlan q, k, v, o;
  HeadsPlan dO, dQ, dK, dV; ///< of backward
  size_t lse = 0;           ///< argument
  std::optional<MaskPlan> padding, mask;
  std::optional<SegmentsPlan> segments;

  /// Units of work that share only data that they read: heads; in backward, heads of keys.
  int64_t tasks() const { return batch * (isBackward ? groups : heads); }
};

/// Fails with an error that names the reason if sizes overflow, strides do not match the sizes, two
/// elements of a result share an address, or `kernel` stores arguments in other types.
/// Factors may be f16 only on a GPU.
Status planAttention(const proto::Kernel &kernel, AttentionPlan &plan, bool onGpu = false);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_ATTENTION_PLAN_H
