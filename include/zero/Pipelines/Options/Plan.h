//===- Plan.h - options of plans and of what they choose ---*- C++ -*-===//

#ifndef ZERO_PIPELINES_OPTIONS_PLAN_H
#define ZERO_PIPELINES_OPTIONS_PLAN_H

#include "zero/Pipelines/Options/Group.h"

namespace zero::phase {

/// Where state lies and in which bucket, and what stays for backward.
struct PlaceOptions : Group {
  using Group::Group;

  WordOption<OrAuto<Checkpoint>> checkpoint{
      parent, "checkpoint",
      llvm::cl::desc(
          "what layers keep for backward: all it reads (none), only what goes from "
          "one layer to the next (layer) or between groups of layers (sqrt); backward "
          "makes the rest again; auto: value by value, as a budget wants it (none; with a "
          "budget auto)"),
      llvm::cl::value_desc("none|layer|sqrt|auto")};
  Option<uint64_t> checkpointSlots{
      parent, "checkpoint-slots",
      llvm::cl::desc("keep what goes into at most so many layers at a time (0: see --checkpoint)"),
      llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<bool> partitionActivations{
      parent, "partition-activations",
      llvm::cl::desc("keep activations in parts where ranks hold the same (ZeRO-R's Pa): refused "
                     "among data-parallel ranks, which do not")};
  Option<unsigned> stage{parent, "zero-stage", llvm::cl::desc("ZeRO stage: 0, 1, 2 or 3"),
                         llvm::cl::init(0), llvm::cl::value_desc("N")};
  Option<unsigned> ranks{parent, "ranks", llvm::cl::desc("data-parallel ranks"), llvm::cl::init(1),
                         llvm::cl::value_desc("N")};
  Option<ByteSize> bucketBytes{parent, "bucket-bytes",
                               llvm::cl::desc("largest bucket of parameters (25MB)"),
                               llvm::cl::init(ByteSize{25000000})};
  Option<ByteSize> persistUnder{
      parent, "persist-under",
      llvm::cl::desc("stage 3: each rank keeps parameters smaller than this whole (0)"),
      llvm::cl::init(ByteSize{0})};
};

using TierOption = Group::WordOption<OrAuto<Tier>>;

/// The tiers on which things wait until they are needed.
struct OffloadOptions : Group {
  using Group::Group;

  WordOption<OrAuto<Tier>> params{
      parent, "offload-params",
      llvm::cl::desc("where parameters wait for their use: device, host or nvme, sharded over "
                     "ranks (stage 3); auto: as a budget wants it (device)"),
      llvm::cl::init(OrAuto<Tier>(Tier::Device)), llvm::cl::value_desc("tier")};
  WordOption<Tier> gradients{parent, "offload-gradients",
                             llvm::cl::desc("where summed gradients wait for the update (device)"),
                             llvm::cl::init(Tier::Device)};
  WordOption<OrAuto<Tier>> optimizer{
      parent, "offload-optimizer",
      llvm::cl::desc("where optimizer state lies; elsewhere than on the device the host's cores "
                     "update; auto: as a budget wants it (device)"),
      llvm::cl::init(OrAuto<Tier>(Tier::Device)), llvm::cl::value_desc("tier")};
  WordOption<OrAuto<Tier>> activations{
      parent, "offload-activations",
      llvm::cl::desc(
          "where what forward saves waits for backward: device, host or nvme; auto: "
          "value by value, beside what is computed again, as a budget wants it (device)"),
      llvm::cl::init(OrAuto<Tier>(Tier::Device)), llvm::cl::value_desc("tier")};

  /// Those that a planner may choose.
  std::array<const TierOption *, 3> chosen() const { return {&params, &optimizer, &activations}; }
  /// Whether anything may leave the device.
  bool any() const {
    return gradients != Tier::Device ||
           llvm::any_of(chosen(), [](const TierOption *tier) { return !tier->is(Tier::Device); });
  }
  /// Whether anything may get to `tier`, by a planner's choice too.
  bool mayUse(Tier tier) const {
    return gradients == tier || llvm::any_of(chosen(), [tier](const TierOption *where) {
             return where->isAuto() || where->is(tier);
           });
  }
};

/// What a plan has to keep, and the machine that it is for.
struct PlanOptions : Group {
  using Group::Group;

  Option<ByteSize> memoryBudget{
      parent, "memory-budget",
      llvm::cl::desc("bytes that a rank may take: the fastest plan that fits, or an error"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> hostBudget{
      parent, "host-budget",
      llvm::cl::desc("bytes of the host's memory that a rank may take for what is on other tiers "
                     "(0: as many as it wants)"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> activationBudget{
      parent, "activation-budget",
      llvm::cl::desc("bytes of it for inputs and for what forward saves for backward"),
      llvm::cl::init(ByteSize{0})};
  WordOption<ZeroMode> zero{
      parent, "zero",
      llvm::cl::desc("with a budget: auto chooses stage, parameters kept whole, buckets and "
                     "recomputation together")};
  Option<std::string> machine{
      parent, "machine",
      llvm::cl::desc("with a budget: the machine that times are planned for: a preset or a file as "
                     "zero-run --calibrate writes it (cpu, for GPUs h100)"),
      llvm::cl::value_desc("name|file")};
  Option<ByteSize> diskRead{
      parent, "disk-read",
      llvm::cl::desc(
          "bytes a second that the nvme tier's disk reads, for all ranks together (0: as "
          "--machine says)"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> diskWrite{parent, "disk-write",
                             llvm::cl::desc("the same of what is written (0: as --machine says)"),
                             llvm::cl::init(ByteSize{0})};

  bool isAuto() const { return zero == ZeroMode::Auto; }
  /// Whether a plan is left to be chosen.
  bool isPlanned() const {
    return memoryBudget.getValue() != 0 || activationBudget.getValue() != 0 ||
           hostBudget.getValue() != 0 || isAuto();
  }
};

/// How ranks add up gradients.
struct PartitionOptions : Group {
  using Group::Group;

  WordOption<GradReduce> gradReduce{
      parent, "grad-reduce",
      llvm::cl::desc("stages 0 and 1: sum gradients over ranks after the last micro-batch or "
                     "after each (last)"),
      llvm::cl::init(GradReduce::Last)};
  WordOption<Precision> reduceDtype{
      parent, "reduce-dtype",
      llvm::cl::desc("type in which 16-bit gradients are added over ranks (fp32)"),
      llvm::cl::init(Precision::F32)};
};

} // namespace zero::phase

#endif // ZERO_PIPELINES_OPTIONS_PLAN_H
