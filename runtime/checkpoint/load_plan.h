//===- load_plan.h - which bytes of a checkpoint go where -------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_LOAD_PLAN_H
#define RUNTIME_CHECKPOINT_LOAD_PLAN_H

#include "runtime/checkpoint/manifest.pb.h"
#include "runtime/checkpoint/state_table.h"

namespace zero::rt {

/// Elements of a file that a rank reads into its memory.
struct RangeRead {
  uint32_t file;   ///< of the manifest
  uint64_t offset; ///< bytes behind its header
  DType stored, dtype;
  uint64_t count;
  proto::Tier tier;
  uint64_t place; ///< bytes in the arena of that tier
};

struct LoadPlan {
  std::vector<std::vector<RangeRead>> ranks;
  std::vector<std::string> remarks; ///< what is not as it was, and need not be
};

/// Plans how `program` takes the state in `manifest`, whatever its stage, ranks, buckets
/// and precision. Refused by name (ZERO_RT_BAD_DATA): tensors that are missing, of
/// another shape, of a type that is not converted, not covered by their ranges or twice;
/// and tensors of the checkpoint that are no longer there, unless nothing depends on
/// them: the loss scale, which one precision has and another has not, scalars of the
/// optimizer, and what it kept for a parameter that is frozen now.
Status planLoad(const proto::Program &program, const proto::Manifest &manifest, LoadPlan &plan,
                bool verbose = false);

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_LOAD_PLAN_H
