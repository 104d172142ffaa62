//===- PlanSummary.h - the numbers of a plan --------------------*- C++ -*-===//
// Collected once from a packed module; the certificate and the report only print it.
//===----------------------------------------------------------------------===//

#ifndef ZERO_REPORT_PLANSUMMARY_H
#define ZERO_REPORT_PLANSUMMARY_H

#include "zero/Analysis/Storage.h"
#include "zero/Planning/DriveWear.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace zero {

/// Bytes of one role: the maximum over the step, and those at the peak of all roles.
struct RoleBytes {
  int64_t most = 0;
  int64_t atPeak = 0;
};

/// What a rank stores throughout the step in one type, on all tiers.
struct StoredBytes {
  Usage usage;
  std::string type;  ///< of elements, "bf16", or "8-bit blocks of 256", these with their scales
  int64_t bytes = 0; ///< aligned, as roles count them
};

/// The differences of the volume of stage 3 from the ZeRO paper, in elements.
struct VolumeCauses {
  int64_t regathered = 0; ///< parameters with distant uses
  int64_t notReadInBackward = 0;
  int64_t notTrained = 0;
  int64_t unsharded = 0; ///< not sharded: gathered once after the update
  int64_t padding = 0;
  int64_t inBlocks = 0;       ///< bytes of codes and scales instead of elements
  int64_t acrossNodes = 0;    ///< sharded within nodes: gathered across nodes after the update
  int64_t wholeGradients = 0; ///< for an optimizer of whole tensors
};

/// Complete buckets that a step communicates, in elements; a rank receives (N-1)/N of each in a
/// group of N.
struct CollectiveVolume {
  int64_t forward = 0;     ///< gathered for forward
  int64_t backward = 0;    ///< gathered for backward
  int64_t again = 0;       ///< of these, only for recomputation
  int64_t update = 0;      ///< gathered after the update, or unsharded gradients for it
  int64_t gradients = 0;   ///< reduced
  int64_t shared = 0;      ///< of `update`, gathered across nodes: slices of the ranks of a node
  int64_t received = 0;    ///< by a rank
  int64_t withinNode = 0;  ///< of these, in groups of the ranks of a node
  int64_t acrossNodes = 0; ///< of these, in groups of one rank of each node
  int64_t paperTimes = 0;  ///< factor of the parameters in the paper: 2P, 3P
  int64_t paper = 0;
  std::optional<VolumeCauses> causes; ///< at stage 3

  int64_t total() const { return forward + backward + update + gradients; }
};

/// Values that ranks along the axis tensor or context exchange in a step, in elements; a rank
/// receives (N-1)/N of each. A sum that all of them get counts twice: as a reduction to slices and
/// a gather of these.
struct AxisVolume {
  int64_t forward = 0;
  int64_t backward = 0;
  int64_t again = 0;      ///< by recomputed layers
  int64_t regathered = 0; ///< of tokens, which forward gathered and did not save
  int64_t saved = 0;      ///< saved activations that are divided until backward
  int64_t update = 0;     ///< of what steps of whole matrices and tensors are computed from

  int64_t total() const { return forward + backward + again + regathered + saved + update; }
};

/// How evenly ranks share the steps of matrices, or of whole tensors.
struct OwnerBalance {
  int64_t tensors = 0;    ///< that have owners
  int64_t ofAllRanks = 0; ///< that every rank computes the step of
  double most = 0;        ///< operations of the rank with most of them
  double operations = 0;  ///< of the steps of all, each once
  int64_t elements = 0;   ///< of tensors with owners
  int64_t stored = 0;     ///< elements of their buckets

  /// The operations of the rank with most of them over an even share.
  double imbalance(int64_t ranks) const { return most * double(ranks) / operations; }
};

/// The contents of one tier of a rank.
struct ArenaSummary {
  Tier tier = Tier::Device;
  std::array<RoleBytes, kNumUsages> roles; ///< by Usage
  int64_t arena = 0;                       ///< bytes of a rank
  int64_t lowerBound = 0;                  ///< maximum of the live bytes
  std::string peakAt;                      ///< the command of that maximum
  bool isOptimal = false;                  ///< the size is minimal for these lifetimes
};

/// The arenas of the program of one shape of the inputs.
struct ShapeArenas {
  std::string shape;                          ///< as --shape says it
  std::array<int64_t, kTiers.size()> bytes{}; ///< of a rank, by Tier
};

struct PlanSummary : ArenaSummary {
  int64_t stage = 0;
  int64_t ranks = 1;        ///< data-parallel ranks
  int64_t contextRanks = 1; ///< of `ranks`, those along the axis context
  int64_t tensorRanks = 1;  ///< ranks along the axis tensor
  int64_t nodes = 0; ///< within which parameters are sharded; 0: over all data-parallel ranks
  int64_t microBatches = 1;
  int64_t iterations = 1;      ///< of the ops of a micro-batch in a step
  int64_t parameters = 0;      ///< elements of the model, trained and frozen
  int64_t ownParameters = 0;   ///< of these, in the shards of a rank along tensor
  int64_t trained = 0;         ///< elements
  std::string precision;       ///< "bf16"; empty for f32
  std::string frozenPrecision; ///< of frozen parameters, if only these have 16 bits
  std::string gradPrecision;   ///< of sums of gradients over micro-batches; empty for f32
  std::string optimizer;       ///< empty when nothing is trained

  std::vector<ArenaSummary> others; ///< the other tiers that are used
  /// The programs of an executable with several: this one and those for other shapes, of each of
  /// which a rank has the largest arena of each tier. Empty: there is one.
  std::vector<ShapeArenas> shapes;
  /// Parameters, sums of gradients over micro-batches and optimizer state by stored type.
  llvm::SmallVector<StoredBytes> stored;
  /// Bytes of a process that runs all ranks on a CPU: arenas of the device and the host, and at
  /// most so many of the runtime and its libraries; 0 for GPUs.
  int64_t processArenas = 0, processBeside = 0;
  /// Bytes that a rank transfers between tiers in a step, by planning::Link.
  std::array<int64_t, planning::kNumLinks> moved = {};
  /// The drives of a node of the planned machine, at the simulated time of a step; none: nothing
  /// is read or written there.
  std::optional<planning::DriveWear> drives;

  double stateBytes = 0;      ///< model state of a rank by the ZeRO formula, before padding
  double paperStateBytes = 0; ///< the same in the paper's 16 bits with Adam
  std::optional<CollectiveVolume> volume;  ///< of a step on several data-parallel ranks
  std::optional<OwnerBalance> owners;      ///< of a step with an optimizer of matrices or tensors
  std::optional<AxisVolume> tensorVolume;  ///< of a step on several ranks along tensor
  std::optional<AxisVolume> contextVolume; ///< of a step on several ranks along context
  int64_t ranksPerNode = 0; ///< by which sums or parameters are divided; 0: there are no nodes
  /// Bytes of parameters and gradients that each of these nodes receives from others in a step.
  int64_t nodeBytes = 0;
  int64_t reorders = 0; ///< products of a step that first reorder their B, and its bytes
  int64_t reorderedBytes = 0;
  /// Matrix products, convolutions and attentions of a step, and those that multiply bf16 as it is
  /// stored.
  int64_t products = 0, halfProducts = 0;

  int64_t movedOver(planning::Link link) const { return moved[unsigned(link)]; }
};

/// Summarizes a packed module; `storage` is the analysis of its step.
PlanSummary summarisePlan(mlir::ModuleOp module, const Storage &storage);

/// Adds what the drives of `machine` read and write in a step of a packed module, if it uses them.
/// `threads`: of each rank.
void addDrives(mlir::ModuleOp module, const Storage &storage, const planning::Machine &machine,
               int64_t threads, PlanSummary &plan);

/// Adds the packed program for another shape, or `plan`'s own one, to those of `plan`.
void addShape(mlir::ModuleOp module, llvm::StringRef shape, PlanSummary &plan);

/// The largest arena of `tier` that the program of a shape needs.
int64_t largestArena(const PlanSummary &plan, Tier tier);

/// What a rank stores of each usage and type, the largest of a usage first.
llvm::SmallVector<StoredBytes> bytesByStoredType(mlir::ModuleOp module, const Storage &storage);

/// Nothing if no step is of a matrix or a whole tensor, or states are not sharded.
std::optional<OwnerBalance> measureOwners(mlir::ModuleOp module, int64_t stage, int64_t ranks);

/// Writes the certificate as a table.
void printCertificate(const PlanSummary &plan, llvm::raw_ostream &os);

} // namespace zero

#endif // ZERO_REPORT_PLANSUMMARY_H
