//===- ScheduleTransfers.h - schedule transfers for a machine ---*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_SCHEDULE_SCHEDULETRANSFERS_H
#define ZERO_TRANSFORMS_SCHEDULE_SCHEDULETRANSFERS_H

#include "zero/Planning/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zero {

/// Maximum of the live bytes on a tier, including those of transfers; 0: the default of
/// ScheduleTransfers.
struct TierBudgets {
  int64_t device = 0, host = 0;
  int64_t both = 0; ///< of the device and the host together, instead of the others
  /// Bytes that the overlap of collectives with kernels may add to the peak of the device. 0: only
  /// a step with transfers is reordered, within its peak.
  int64_t prefetch = 0;
};

/// The pass `zero-schedule-transfers` for `machine`.
std::unique_ptr<mlir::Pass> createScheduleTransfers(const planning::Machine &machine,
                                                    TierBudgets budgets);

/// Whether the arena of the host keeps its budget, or together with that of the device the budget
/// of both, by first fit. `device`: live bytes at the peak of the device.
bool fitsBudgets(mlir::ModuleOp module, mlir::func::FuncOp step, const TierBudgets &budgets,
                 int64_t device);

/// Lets updates work on what backward has read, as far as `budgets` have space for it.
std::unique_ptr<mlir::Pass> createShareFetches(TierBudgets budgets);

} // namespace zero

#endif // ZERO_TRANSFORMS_SCHEDULE_SCHEDULETRANSFERS_H
