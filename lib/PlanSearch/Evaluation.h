//===- Evaluation.h - the memory of a plan ----------------------*- C++ -*-===//

#ifndef LIB_PLANSEARCH_EVALUATION_H
#define LIB_PLANSEARCH_EVALUATION_H

#include "zero/Analysis/StepTime.h"
#include "zero/Analysis/Storage.h"
#include "zero/Pipelines/PhaseOptions.h"
#include "zero/Planning/Packing.h"
#include "zero/Transforms/Place/ActivationPlan.h"

#include "mlir/IR/OwningOpRef.h"

namespace zero {

/// Bytes of a rank's parameters and optimizer state on nearer tiers than the rest, see
/// #zero.nearer_state.
struct NearerState {
  int64_t device = 0, host = 0;
  StateOrder order = StateOrder::OptimizerParams;

  bool any() const { return device > 0 || host > 0; }
};

/// The choices of a planner: a point in the space of plans.
struct PlanChoice {
  unsigned stage = 0;
  unsigned ranks = 1;
  uint64_t persistUnder = 0; ///< bytes
  uint64_t bucketBytes = 0;
  Tier params = Tier::Device;
  Tier gradients = Tier::Device;
  Tier optimizer = Tier::Device;
  NearerState nearer;   ///< at most; the rest is on `params` and `optimizer`
  int64_t swapHost = 0; ///< bytes of saved values that wait there at most
  int64_t swapNvme = 0;
  /// Data-parallel ranks of a node if the planner shards parameters within nodes; 0: over the ranks
  /// that --shard-params says.
  unsigned nodeRanks = 0;
  bool interleave = false;                     ///< micro-batches in vertical order
  const ActivationPlan *activations = nullptr; ///< null: as --checkpoint says
};

/// The memory of one tier of a rank. Packing takes much longer than computing the live bytes, so it
/// is done only on request.
class TierBytes {
public:
  TierBytes() = default;
  TierBytes(std::vector<planning::Lifetime> lifetimes, int64_t alignment);

  /// The maximum of the live bytes, a lower bound of the arena.
  int64_t least() const { return bytes ? *bytes : live; }
  /// Bytes of the arena.
  int64_t packed();
  /// The same or a little more, in a fifth of the time.
  int64_t roughly() const;
  bool isPacked() const { return bytes.has_value(); }
  void setPacked(int64_t arena) { bytes = arena; }
  /// Whether the arena has at most `limit` bytes (0: no limit), which packing rarely has to
  /// minimize.
  bool fits(uint64_t limit);
  /// Whether this arena and the other one have at most `limit` bytes together.
  bool fitsWith(TierBytes &other, int64_t limit);

private:
  std::vector<planning::Lifetime> lifetimes; ///< until they are packed
  std::optional<int64_t> atMost;             ///< bytes of an arena that is not minimized
  int64_t alignment = 1;
  int64_t live = 0;
  std::optional<int64_t> bytes;
};

/// The resources of a plan on each rank.
struct PlanCost {
  TierBytes device, host, nvme;
  int64_t activations = 0;           ///< maximum of the live bytes of inputs and saved values
  std::array<int64_t, 3> state = {}; ///< bytes of parameters and optimizer state by tier
  NearerState nearer;                ///< what entire buckets take of the choice
  int64_t written = 0;               ///< to the disk in a step
  StepTime time;
  bool isExact = false; ///< whether time.seconds are those of packed values
};

/// Bytes that a step cannot do without, whatever is recomputed.
struct MemoryFloor {
  int64_t state = 0; ///< parameters, optimizer state and constants, during the entire step
  /// bytes that the largest launch reads, writes and uses as workspace, besides state
  int64_t launch = 0;
  std::string launchAt; ///< its node

  int64_t total() const { return state + launch; }
};

/// A value that is live at the peak.
struct LiveValue {
  std::string name;
  Usage usage;
  int64_t bytes;
};

/// The program of one rank under one choice, created from a copy of a step that has kernels.
class Evaluation {
public:
  /// Fails, after an error, where a phase does.
  static llvm::FailureOr<Evaluation> create(mlir::ModuleOp module, const PlanChoice &choice,
                                            const PhaseOptions &options,
                                            const planning::Machine &machine);

  PlanCost &getCost() { return cost; }
  /// Packs all tiers and replaces the seconds of `cost`, which getCost() returned, by those of a
  /// step in which ops also wait for the bytes that they overwrite, as in the executable.
  void simulatePacked(PlanCost &cost, const planning::Machine &machine, int64_t threads) const;
  MemoryFloor findFloor() const;
  /// Equal for equal programs of a rank, in one process.
  size_t hashProgram() const;
  /// Bytes besides state that launches need at once under any recomputation and with any
  /// activations on other tiers: what is not saved for backward, between the launches that use it.
  int64_t leastWorking() const;
  /// Bytes besides state that launches of a micro-batch need at once with the same recomputation
  /// and as many bytes of activations on other tiers, whatever the tiers of state and gradients.
  int64_t leastOnOtherTiers() const;
  /// Bytes of `tier`, the host or nvme, that any plan of the same placement needs: state and what a
  /// single op reads and writes besides activations.
  int64_t leastOn(Tier tier) const;
  /// The op at which most bytes are live.
  std::string peakAt() const;
  /// The values that are live at the peak, largest first.
  std::vector<LiveValue> liveAtPeak() const;

private:
  bool comesAndGoes(int64_t root) const;
  void forEachTouched(LaunchOp launch,
                      llvm::function_ref<void(const Place &place, int64_t bytes)> touch) const;
  int64_t mostTouched(llvm::function_ref<bool(mlir::Operation *launch)> launches,
                      llvm::function_ref<bool(const Root &root)> counts) const;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp step;
  std::unique_ptr<Storage> storage;
  std::vector<mlir::Operation *> ops; ///< by position
  PlanCost cost;
  int64_t peak = 0; ///< position at which most bytes are live
};

/// `choice`, except for its activations.
PlanAttr attributeOf(mlir::MLIRContext *context, const PlanChoice &choice);
PlanChoice choiceOf(PlanAttr plan);
/// Writes `choice` on a module whose step has kernels, for the phases that follow.
llvm::LogicalResult writePlan(mlir::ModuleOp module, const PlanChoice &choice);

} // namespace zero

#endif // LIB_PLANSEARCH_EVALUATION_H
