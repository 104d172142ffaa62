//===- Evaluation.h - the memory of a plan ----------------------*- C++ -*-===//

#ifndef LIB_PLANSEARCH_EVALUATION_H
#define LIB_PLANSEARCH_EVALUATION_H

#include "zero/Analysis/StepTime.h"
#include "zero/Analysis/Storage.h"
#include "zero/Pipelines/PhaseOptions.h"
#include "zero/Planning/Packing.h"
#include "zero/Transforms/Place/Activations.h"

#include "mlir/IR/OwningOpRef.h"

namespace zero {

/// The choices of a planner: a point in the space of plans.
struct PlanChoice {
  unsigned stage = 0;
  unsigned ranks = 1;
  uint64_t persistUnder = 0; ///< bytes
  uint64_t bucketBytes = 0;
  Tier params = Tier::Device;
  Tier optimizer = Tier::Device;
  int64_t optimizerHost = 0; ///< bytes of optimizer state on the host, with the rest on nvme
  int64_t swapHost = 0;      ///< bytes of saved values that wait there at most
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
  bool isPacked() const { return bytes.has_value(); }

private:
  std::vector<planning::Lifetime> lifetimes; ///< until they are packed
  int64_t alignment = 1;
  int64_t live = 0;
  std::optional<int64_t> bytes;
};

/// The resources of a plan on each rank.
struct PlanCost {
  TierBytes device, host;
  int64_t activations = 0; ///< maximum of the live bytes of inputs and saved values
  int64_t optimizerOnHost = 0;
  StepTime time;
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
  MemoryFloor findFloor() const;
  /// The op at which most bytes are live.
  std::string peakAt() const;
  /// The values that are live at the peak, largest first.
  std::vector<LiveValue> liveAtPeak() const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp step;
  std::unique_ptr<Storage> storage;
  std::vector<mlir::Operation *> ops; ///< by position
  PlanCost cost;
  int64_t peak = 0; ///< position at which most bytes are live
};

/// Writes `choice` on a module whose step has kernels, for the phases that follow.
llvm::LogicalResult writePlan(mlir::ModuleOp module, const PlanChoice &choice);

} // namespace zero

#endif // LIB_PLANSEARCH_EVALUATION_H
