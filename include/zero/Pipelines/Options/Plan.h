//===- Plan.h - options of plans and placement ------------------*- C++ -*-===//

#ifndef ZERO_PIPELINES_OPTIONS_PLAN_H
#define ZERO_PIPELINES_OPTIONS_PLAN_H

#include "zero/Pipelines/Options/Group.h"

namespace zero::phase {

/// Options of the placement of state, of buckets, of activation checkpointing, and of the order of
/// micro-batches.
struct PlaceOptions : Group {
  using Group::Group;

  WordOption<OrAuto<Checkpoint>> checkpoint{
      parent, "checkpoint",
      appliesIf(needs::training, needs::noSlots)
          .orElse("none; with a budget auto")
          .inShort("Fit into memory", "recompute activations in backward"),
      llvm::cl::desc(
          "activation checkpointing: save everything that backward reads (none), or only the "
          "values between layers (layer) or between groups of layers (sqrt) and recompute the "
          "rest; auto: decide for each value, within a budget"),
      llvm::cl::value_desc("none|layer|sqrt|auto")};
  Option<uint64_t> checkpointSlots{
      parent,
      "checkpoint-slots",
      appliesIf(needs::training).from(1, 1e6).orElse("0: see --checkpoint"),
      llvm::cl::desc("save the inputs of at most N layers at a time"),
      llvm::cl::init(0),
      llvm::cl::value_desc("N")};
  Option<bool> partitionActivations{
      parent, "partition-activations", appliesIf(needs::training),
      llvm::cl::desc("divide saved activations over the ranks along tensor, which hold them alike "
                     "(Pa of ZeRO-R); an error for data-parallel ranks, whose activations differ")};
  Option<unsigned> stage{parent,
                         "zero-stage",
                         appliesIf(needs::givenStage)
                             .within(0, 3, "0, 1, 2 or 3")
                             .fromDeepSpeed("zero_optimization.stage")
                             .inShort("Partition", "ZeRO stage: 0, 1, 2 or 3 (0)"),
                         llvm::cl::desc("ZeRO stage: 0, 1, 2 or 3"),
                         llvm::cl::init(0),
                         llvm::cl::value_desc("N")};
  Option<unsigned> ranks{parent,
                         "ranks",
                         appliesIf(needs::noMesh).inShort("Partition", "data-parallel ranks (1)"),
                         llvm::cl::desc("data-parallel ranks"),
                         llvm::cl::init(1),
                         llvm::cl::value_desc("N")};
  Option<unsigned> ranksPerNode{
      parent,
      "ranks-per-node",
      always().orElse("0: all ranks in order"),
      llvm::cl::desc("sums add the ranks of each node first, then nodes, so that only sums cross "
                     "between nodes of N ranks"),
      llvm::cl::init(0),
      llvm::cl::value_desc("N")};
  WordOption<ShardParams> shardParams{
      parent,
      "shard-params",
      appliesIf(needs::givenStage, needs::stage3),
      llvm::cl::desc("stage 3: shard parameters over all ranks, or over those of each node, which "
                     "--ranks-per-node counts, so that no gather crosses between nodes"),
      llvm::cl::init(ShardParams::All),
      llvm::cl::value_desc("all|node")};
  Option<ByteSize> bucketBytes{parent, "bucket-bytes", always().atLeastOne().orElse("25MB"),
                               llvm::cl::desc("maximum size of a bucket of parameters"),
                               llvm::cl::init(ByteSize{25000000})};
  Option<ByteSize> persistUnder{
      parent, "persist-under", appliesIf(needs::givenStage, needs::stage3),
      llvm::cl::desc("stage 3: do not shard parameters smaller than this"),
      llvm::cl::init(ByteSize{0})};
  WordOption<OrAuto<MicroBatchOrder>> microBatchOrder{
      parent,
      "micro-batch-order",
      appliesIf(needs::training, needs::microBatches),
      llvm::cl::desc("run each micro-batch as a whole (horizontal), or each part of the step for "
                     "all micro-batches, which fetches parameters once a step but saves the "
                     "activations of all of them (vertical); auto: chosen within a budget"),
      llvm::cl::init(OrAuto<MicroBatchOrder>(MicroBatchOrder::Horizontal)),
      llvm::cl::value_desc("horizontal|vertical|auto")};
};

using TierOption = Group::WordOption<OrAuto<Tier>>;

/// Options of the tiers that values are offloaded to.
struct OffloadOptions : Group {
  using Group::Group;

  WordOption<OrAuto<Tier>> params{
      parent, "offload-params",
      llvm::cl::desc("tier of parameters between their uses: device, host or nvme, sharded over "
                     "ranks (stage 3); auto: chosen within a budget"),
      llvm::cl::init(OrAuto<Tier>(Tier::Device)), llvm::cl::value_desc("tier")};
  WordOption<OrAuto<Tier>> gradients{
      parent,
      "offload-gradients",
      appliesIf(needs::training),
      llvm::cl::desc("tier of summed gradients until the update; auto: chosen within a budget"),
      llvm::cl::init(OrAuto<Tier>(Tier::Device)),
      llvm::cl::value_desc("tier")};
  WordOption<OrAuto<Tier>> optimizer{
      parent,
      "offload-optimizer",
      appliesIf(needs::training).inShort("Fit into memory", "tier of optimizer state"),
      llvm::cl::desc("tier of optimizer state; on host and nvme the host's cores run the update; "
                     "auto: chosen within a budget"),
      llvm::cl::init(OrAuto<Tier>(Tier::Device)),
      llvm::cl::value_desc("tier")};
  WordOption<OrAuto<Tier>> activations{
      parent,
      "offload-activations",
      appliesIf(needs::training),
      llvm::cl::desc(
          "tier of activations that are saved for backward: device, host or nvme; auto: decided "
          "for each value, together with recomputation, within a budget"),
      llvm::cl::init(OrAuto<Tier>(Tier::Device)),
      llvm::cl::value_desc("tier")};

  Option<bool> delayUpdates{
      parent, "delay-updates", appliesIf(needs::training),
      llvm::cl::desc("run updates of offloaded state that wait for all gradients beside forward of "
                     "the next step, with the same numbers; saves and evaluations run them first"),
      llvm::cl::init(false)};

  /// The options that a planner may choose.
  std::array<const TierOption *, 4> chosen() const {
    return {&params, &gradients, &optimizer, &activations};
  }
  /// Whether anything may be offloaded.
  bool any() const {
    return llvm::any_of(chosen(), [](const TierOption *tier) { return !tier->is(Tier::Device); });
  }
  /// Whether a planner chooses tiers.
  bool anyAuto() const {
    return llvm::any_of(chosen(), [](const TierOption *tier) { return tier->isAuto(); });
  }
  /// Whether anything may be offloaded to `tier`, including by a planner's choice.
  bool mayUse(Tier tier) const {
    return llvm::any_of(
        chosen(), [tier](const TierOption *where) { return where->isAuto() || where->is(tier); });
  }
};

/// Budgets of a plan, and the machine that it is for.
struct PlanOptions : Group {
  using Group::Group;

  Option<ByteSize> memoryBudget{
      parent, "memory-budget",
      appliesIf(needs::ownBudgets)
          .atLeastOne()
          .orElse("")
          .inShort("Fit into memory", "bytes of a rank: the fastest plan that fits"),
      llvm::cl::desc("maximum device bytes per rank: choose the fastest "
                     "plan that fits by the cost model, or fail"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> ramBudget{
      parent, "ram-budget", always().atLeastOne().orElse(""),
      llvm::cl::desc(
          "CPU ranks: maximum bytes of memory that a process with all ranks of a machine "
          "takes, with the runtime and its libraries, instead of --memory-budget and "
          "--host-budget: what is offloaded to the host stays in this memory"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> hostBudget{
      parent, "host-budget", appliesIf(needs::ownBudgets).atLeastOne().orElse("0: no limit"),
      llvm::cl::desc("maximum bytes of host memory per rank for offloaded values"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> nvmeBudget{
      parent, "nvme-budget", always().atLeastOne().orElse("0: no limit"),
      llvm::cl::desc("maximum bytes of the disk per rank for offloaded values"),
      llvm::cl::init(ByteSize{0})};
  Option<BytesPerDay> driveWrites{
      parent,
      "drive-writes",
      always().atLeastOne().orElse("0: no limit"),
      llvm::cl::desc("maximum bytes that the ranks of a node write to its drives in a day of steps "
                     "of the planned time, as in 2TB/day"),
      llvm::cl::init(BytesPerDay{0}),
      llvm::cl::value_desc("bytes/day")};
  ListOption<std::string> allowPrecision{
      parent, "allow-precision",
      appliesIf(needs::training, needs::budget).checked(valid::allowPrecision),
      llvm::cl::desc("with a budget: precisions that may be used if no plan fits without them, "
                     "those that change numbers least first: frozen:bf16, grads:bf16, state:bf16, "
                     "frozen:int8, state:8bit, masters:none, state:4bit or frozen:nf4"),
      llvm::cl::value_desc("SUBJECT:precision,...")};
  Option<double> offloadGain{
      parent, "offload-gain",
      llvm::cl::desc(
          "with a budget: percent of a step that a plan must save if it writes to the disk "
          "and another one fits"),
      llvm::cl::init(10)};
  Option<ByteSize> activationBudget{
      parent, "activation-budget", appliesIf(needs::training).atLeastOne().orElse(""),
      llvm::cl::desc("maximum bytes of the memory budget for inputs and for activations that are "
                     "saved for backward"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> prefetchBytes{
      parent, "prefetch-bytes", always().orElse("0; for GPUs --bucket-bytes"),
      llvm::cl::desc("bytes that may be added to the peak of live bytes so that gathers start "
                     "early and gradients are reduced beside kernels"),
      llvm::cl::init(ByteSize{0})};
  WordOption<ZeroMode> zero{
      parent, "zero",
      appliesIf(needs::training)
          .inShort("Fit into memory", "with a budget: choose the stage as well"),
      llvm::cl::desc("with a budget: auto chooses stage, parameters that are "
                     "not sharded, buckets and recomputation together")};
  Option<std::string> machine{
      parent, "machine", appliesIf(needs::timedPlan).orElse("cpu, for GPUs h100"),
      llvm::cl::desc("the machine whose speed plans assume: a preset or a file "
                     "written by zero-run --calibrate"),
      llvm::cl::value_desc("name|file")};
  Option<std::string> profile{
      parent, "profile", appliesIf(needs::timedPlan),
      llvm::cl::desc("a report of zero-run --profile --report-json: plan with its times of kernels "
                     "instead of those that --machine gives"),
      llvm::cl::value_desc("report.json")};
  Option<std::string> lengths{
      parent, "lengths", always(),
      llvm::cl::desc("the lengths of the documents that share rows, for the time of attention: a "
                     "file with a line LENGTH COUNT for each length, or a folder of tokens"),
      llvm::cl::value_desc("file|folder")};
  Option<ByteSize> diskRead{
      parent, "disk-read", always().orElse("0: as --machine says"),
      llvm::cl::desc("read bandwidth of the disk of the nvme tier in bytes per second, for all "
                     "ranks together"),
      llvm::cl::init(ByteSize{0})};
  Option<ByteSize> diskWrite{parent, "disk-write", always().orElse("0: as --machine says"),
                             llvm::cl::desc("write bandwidth of that disk"),
                             llvm::cl::init(ByteSize{0})};
  Option<ByteSize> diskMixed{
      parent, "disk-mixed", always().orElse("0: as --machine says"),
      llvm::cl::desc("bandwidth of that disk while it reads and writes at the same time, both "
                     "together"),
      llvm::cl::init(ByteSize{0})};
  Option<unsigned> diskCount{
      parent, "disk-count", always().orElse("0: those of --nvme-dir, or as --machine says"),
      llvm::cl::desc("drives of the nvme tier, over which the bytes of a step are spread evenly"),
      llvm::cl::init(0)};

  bool isAuto() const { return zero == ZeroMode::Auto; }
  /// Whether the device and the host share one budget of memory.
  bool sharesMemory() const { return ramBudget.getValue() != 0; }
  /// Whether a budget limits the memory of the device.
  bool limitsMemory() const { return memoryBudget.getValue() != 0 || sharesMemory(); }
  /// Whether a planner has to choose a plan.
  bool isPlanned() const {
    return limitsMemory() || activationBudget.getValue() != 0 || hostBudget.getValue() != 0 ||
           nvmeBudget.getValue() != 0 || driveWrites.getValue() != 0 || isAuto();
  }
};

/// Options of the reduction of gradients over ranks and of gathers.
struct PartitionOptions : Group {
  using Group::Group;

  WordOption<GradReduce> gradReduce{
      parent, "grad-reduce", appliesIf(needs::training, needs::lateSums, needs::microBatches),
      llvm::cl::desc("stages 0 and 1, or a vertical order of micro-batches: sum gradients over "
                     "ranks after the last micro-batch or after each"),
      llvm::cl::init(GradReduce::Last)};
  WordOption<Precision> reduceDtype{
      parent, "reduce-dtype", appliesIf(needs::training, needs::bits16),
      llvm::cl::desc("element type in which 16-bit gradients are summed over ranks"),
      llvm::cl::init(Precision::F32)};
  Option<bool> reshardRecomputed{
      parent, "reshard-recomputed", appliesIf(needs::training, needs::stage3, needs::recomputation),
      llvm::cl::desc("stage 3 with --checkpoint: gather the parameters of a recomputed layer again "
                     "for its backward instead of keeping them: less memory, more gathers")};
};

} // namespace zero::phase

#endif // ZERO_PIPELINES_OPTIONS_PLAN_H
