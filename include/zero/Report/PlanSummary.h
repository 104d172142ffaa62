//===- PlanSummary.h - the numbers of a plan --------------------*- C++ -*-===//
//
// Collected once from a packed module; the certificate and the report only write
// them down.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_REPORT_PLANSUMMARY_H
#define ZERO_REPORT_PLANSUMMARY_H

#include "zero/Analysis/Storage.h"
#include "zero/Planning/Machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace zero {

/// Bytes of one role: the most at once, and those at the peak of all roles.
struct RoleBytes {
  int64_t most = 0;
  int64_t atPeak = 0;
};

/// By what the volume of stage 3 differs from the paper's, in elements.
struct VolumeCauses {
  int64_t gatheredAgain = 0; ///< parameters used far apart
  int64_t notReadInBackward = 0;
  int64_t notTrained = 0;
  int64_t keptWhole = 0; ///< gathered once after the update, not for forward and backward
  int64_t padding = 0;
  int64_t wholeGradients = 0; ///< which an optimizer of whole tensors takes
};

/// Whole buckets that a step moves, in elements; a rank receives (N-1)/N of each.
struct CollectiveVolume {
  int64_t forward = 0;    ///< gathered for forward
  int64_t backward = 0;   ///< gathered for backward
  int64_t again = 0;      ///< of it, only for layers that are run again
  int64_t update = 0;     ///< gathered after the update, or whole gradients for it
  int64_t gradients = 0;  ///< reduced
  int64_t paperTimes = 0; ///< the paper moves this many times the parameters: 2P, 3P
  int64_t paper = 0;
  std::optional<VolumeCauses> causes; ///< at stage 3

  int64_t total() const { return forward + backward + update + gradients; }
};

/// What one tier of a rank holds.
struct ArenaSummary {
  Tier tier = Tier::Device;
  std::array<RoleBytes, kNumUsages> roles; ///< by Usage
  int64_t arena = 0;                       ///< bytes of a rank
  int64_t lowerBound = 0;                  ///< the most live bytes at once
  std::string peakAt;                      ///< the command at which they are
  bool isOptimal = false;                  ///< no packing of these lifetimes is smaller
};

struct PlanSummary : ArenaSummary {
  int64_t stage = 0;
  int64_t ranks = 1;
  int64_t microBatches = 1;
  int64_t parameters = 0;      ///< elements, trained and frozen
  int64_t trained = 0;         ///< elements
  std::string precision;       ///< "bf16"; empty for f32
  std::string frozenPrecision; ///< of frozen parameters, where only these are of 16 bits
  std::string optimizer;       ///< empty when nothing is trained

  std::vector<ArenaSummary> others; ///< the tiers beside the device that are used
  /// Bytes that a rank's step moves between tiers, by planning::Link.
  std::array<int64_t, planning::kNumLinks> moved = {};

  double stateBytes = 0;      ///< model state of a rank by ZeRO's arithmetic, before padding
  double paperStateBytes = 0; ///< the same in the paper's 16 bits with Adam
  std::optional<CollectiveVolume> volume; ///< of a step on several ranks
  int64_t reorders = 0; ///< products of a step that first reorder their B, and its bytes
  int64_t reorderedBytes = 0;

  int64_t movedOver(planning::Link link) const { return moved[unsigned(link)]; }
};

/// The numbers of a packed module, whose step `storage` is of.
PlanSummary summarisePlan(mlir::ModuleOp module, const Storage &storage);

/// Writes the certificate as a table.
void printCertificate(const PlanSummary &plan, llvm::raw_ostream &os);

} // namespace zero

#endif // ZERO_REPORT_PLANSUMMARY_H
