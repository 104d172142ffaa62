//===- StepTime.h - estimated time of a step on a machine -------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_STEPTIME_H
#define ZERO_ANALYSIS_STEPTIME_H

#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/Storage.h"
#include "zero/Machine/CommandCosts.h"
#include "zero/Planning/LaneOrder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace zero {

/// Seconds of a rank's step: simulated, and by activity.
struct StepTime {
  double seconds = 0;    ///< as lanes overlap
  double compute = 0;    ///< kernels, including recomputation
  double collective = 0; ///< gathers and reductions
  double recomputed = 0; ///< the part of `compute` that is recomputation
  double update = 0;     ///< the part of `compute` that runs once, after all micro-batches
  double latency = 0;    ///< the part of `collective` that does not depend on bytes
  double host = 0;       ///< kernels on the host beside devices, or on a core beside a rank's own
  bool overlaps = false; ///< collectives run beside kernels
  /// By link: transfers, which overlap with everything else.
  std::array<double, planning::kNumLinks> transfer = {};

  /// A lower bound of `seconds`: that of the busiest lane.
  double least() const {
    const double own = overlaps ? std::max(compute, collective) : compute + collective;
    return std::max({own, host, *std::max_element(transfer.begin(), transfer.end())});
  }
  /// An upper bound of `seconds`, whatever ops wait for: lanes do not overlap.
  double most() const {
    return std::accumulate(transfer.begin(), transfer.end(), compute + collective + host);
  }
};

/// The costs of the ops of a step on a machine, from the attributes of kernels.
class OpTimes {
public:
  OpTimes(mlir::ModuleOp module, const planning::Machine &machine);

  /// Seconds of one execution of `op`; 0 for ops that execute nothing.
  double seconds(mlir::Operation *op) const;
  /// The part of these seconds that a collective takes independently of its bytes.
  double latency(mlir::Operation *op) const;
  /// The kernels whose times the machine has measured, and all of them.
  std::pair<size_t, size_t> countMeasured() const;
  /// Bytes that cross the connection of each node of the machine in one execution of `op`.
  double networkBytes(CollectiveOpInterface op) const;

private:
  /// The costs of a kernel. For a dynamic dimension they are those of one element; the dimension is
  /// `dimension` of argument `argument`.
  struct Kernel {
    planning::KernelCost cost;
    int argument = -1;
    unsigned dimension = 0;
  };

  Kernel describe(mlir::func::FuncOp kernel) const;
  double launchSeconds(LaunchOp launch) const;
  planning::Exchange exchangeOf(CollectiveOpInterface op) const;

  const planning::Machine &machine;
  Mesh mesh;
  int64_t ranks = 1, ranksPerNode = 0;
  llvm::DenseMap<mlir::StringAttr, Kernel> kernels;
};

/// The link of `transfer`.
planning::Link linkOf(TransferOp transfer);

/// Bytes that a rank transfers between tiers in a step, by planning::Link.
std::array<int64_t, planning::kNumLinks> bytesMoved(mlir::func::FuncOp step, int64_t iterations);

/// The ranks of `module`, of `threads` threads each.
Ranks ranksOf(mlir::ModuleOp module, int64_t threads);

/// Seconds of the partitioned step of `module`, whose ranks have `threads` threads each.
StepTime measureStep(mlir::ModuleOp module, mlir::func::FuncOp step,
                     const planning::Machine &machine, int64_t threads);

/// The bytes that ops of a step use, once the roots of `storage` have offsets.
class StepAddresses {
public:
  /// `offsets`: of each root, inside the arena of its tier.
  StepAddresses(const Storage &storage, llvm::ArrayRef<int64_t> offsets)
      : storage(storage), offsets(offsets) {}

  /// What `op` reads and writes on rank 0.
  std::vector<planning::Touch> touchesOf(mlir::Operation *op) const;

private:
  void add(mlir::Value value, bool writes, std::vector<planning::Touch> &touches) const;

  const Storage &storage;
  llvm::ArrayRef<int64_t> offsets;
};

/// Seconds of the step of `module` as its lanes overlap: each executes its ops in order, after the
/// producers of their operands, and with `addresses` also after the ops that use bytes which they
/// overwrite, as in the executable. zero-sim simulates an executable in the same way.
double simulateStep(mlir::ModuleOp module, mlir::func::FuncOp step,
                    const planning::Machine &machine, int64_t threads,
                    const StepAddresses *addresses = nullptr);

/// The same of a packed step, of which `storage` is the analysis, with its addresses.
double simulatePackedStep(mlir::ModuleOp module, const Storage &storage,
                          const planning::Machine &machine, int64_t threads);

} // namespace zero

#endif // ZERO_ANALYSIS_STEPTIME_H
