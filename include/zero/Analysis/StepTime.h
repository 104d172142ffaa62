//===- StepTime.h - how long a step takes on a machine ----------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_STEPTIME_H
#define ZERO_ANALYSIS_STEPTIME_H

#include "dialects/Zero/Zero.h"
#include "zero/Planning/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <array>

namespace zero {

/// Seconds of a rank's step, one thing after another, by what they are spent on.
struct StepTime {
  double compute = 0;    ///< kernels, those that run again included
  double collective = 0; ///< gathers and reductions
  double recomputed = 0; ///< the part of `compute` that runs again for backward
  double update = 0;     ///< the part of `compute` that runs once, after all micro-batches
  double latency = 0;    ///< the part of `collective` that no bytes cause
  /// By link: transfers, which go beside everything else.
  std::array<double, planning::kNumLinks> transfer = {};

  /// At least: what takes longest.
  double total() const {
    return std::max(compute + collective, *std::max_element(transfer.begin(), transfer.end()));
  }
};

/// What the ops of a step cost on a machine, from what kernels say of themselves.
class OpTimes {
public:
  OpTimes(mlir::ModuleOp module, const planning::Machine &machine);

  /// Seconds that `op` takes each time it runs; 0 for what runs nowhere.
  double seconds(mlir::Operation *op) const;
  /// The part of them that a collective takes before anything is moved.
  double latency(mlir::Operation *op) const;

private:
  /// A kernel's costs; of one over a dynamic dimension for each element of it, which is
  /// dimension `dimension` of argument `argument`.
  struct Kernel {
    planning::KernelCost cost;
    int argument = -1;
    unsigned dimension = 0;
  };

  Kernel describe(mlir::func::FuncOp kernel) const;
  double launchSeconds(LaunchOp launch) const;

  const planning::Machine &machine;
  int64_t ranks = 1;
  llvm::DenseMap<mlir::StringAttr, Kernel> kernels;
};

/// The link of `transfer`.
planning::Link linkOf(TransferOp transfer);

/// Seconds of the partitioned step of `module`.
StepTime measureStep(mlir::ModuleOp module, mlir::func::FuncOp step,
                     const planning::Machine &machine);

} // namespace zero

#endif // ZERO_ANALYSIS_STEPTIME_H
