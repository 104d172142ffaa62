//===- StepOrder.h - the order of a step's ops ------------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SCHEDULE_STEPORDER_H
#define LIB_TRANSFORMS_SCHEDULE_STEPORDER_H

#include "dialects/Zero/Zero.h"
#include "zero/Planning/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <array>

namespace zero {

/// Views, constants and reads of state. They are not executed, and are placed with their readers.
bool hasNoCommand(mlir::Operation *op);

/// Whether `op` fetches parameters, state or activations: a gather, or a transfer towards the
/// device. It may begin as soon as its operand is available.
bool isFetch(mlir::Operation *op);

/// Whether the cores of the host have code for `launch`; in a program for GPUs, clones do.
bool mayRunOnHost(LaunchOp launch, const mlir::SymbolTable &symbols);

/// Schedules `op` of the epilogue in the last of the micro-batches; an op without a command belongs
/// to each of them.
void scheduleInLastMicroBatch(mlir::Operation *op, int64_t microBatches);

/// Whether `value`, under any shape, is the result of a transfer over `link`.
bool cameOver(planning::Link link, mlir::Value value);

/// Whether `op` is an update that the host makes during backward, of state that the host keeps.
/// With an update of state on drives, all of that state would occupy the host for longer.
bool isUpdateBeside(mlir::Operation *op);

/// The live bytes on `tier` at each op of `step`.
std::vector<int64_t> liveBytes(mlir::ModuleOp module, mlir::func::FuncOp step, Tier tier);

/// The ops of a step by their positions. Prologue, micro-batches and epilogue keep to
/// themselves.
class StepOrder {
public:
  explicit StepOrder(mlir::func::FuncOp step);

  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  int64_t size() const { return int64_t(ops.size()); }
  int64_t positionOf(mlir::Operation *op) const { return positions.lookup(op); }
  /// The first op of the part that `op` belongs to, and the end of that part.
  std::pair<int64_t, int64_t> partOf(mlir::Operation *op) const;
  /// The earliest position at which the fetch `op` may start. A fetch of the epilogue may run in
  /// the last micro-batch, unless micro-batches write the state that it reads.
  int64_t earliestStart(mlir::Operation *op) const;
  /// Whether an op at `position` of the step runs before the last micro-batch ends.
  bool isInMicroBatch(int64_t position) const {
    return position < parts[size_t(Segment::MicroBatch)].second;
  }
  /// The earliest position at which `value` is available if all fetches for it begin immediately.
  int64_t availableFrom(mlir::Value value) const;
  /// The position of the first reader of `value`, through any reshapes. A write to its symbol moves
  /// with it; if that is delayed, other readers of the symbol count.
  int64_t firstReader(mlir::Value value) const;

  /// The position of the first collective after `op`, or the end of the step.
  int64_t nextCollective(mlir::Operation *op) const;

  /// Moves each op of `begins`, including fetches that it needs, before the op at its position.
  /// With `behind`, moves it after that op, with what keeps its results. Invalidates
  /// positions.
  void move(const llvm::DenseMap<mlir::Operation *, int64_t> &begins, bool behind);

private:
  bool isWrittenInMicroBatch(mlir::Value value) const;

  mlir::Block &block;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  std::array<std::pair<int64_t, int64_t>, 3> parts;
  llvm::DenseSet<mlir::StringAttr> written; ///< symbols that micro-batches write
  /// Of a symbol that delayed ops write: the positions of the write and of the first other reader.
  struct DelayedWrite {
    int64_t position, read;
  };
  llvm::DenseMap<mlir::StringAttr, DelayedWrite> delayed;
};

} // namespace zero

#endif // LIB_TRANSFORMS_SCHEDULE_STEPORDER_H
