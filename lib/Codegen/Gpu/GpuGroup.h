//===- GpuGroup.h - threads that share an iteration -------------*- C++ -*-===//

#ifndef LIB_CODEGEN_GPU_GPUGROUP_H
#define LIB_CODEGEN_GPU_GPUGROUP_H

#include "zero/Codegen/GpuLoops.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

namespace zero {

/// Clones `count` neighbouring iterations of `loop`, starting at `chunk` times `count`. Equal
/// operations of the iterations are adjacent, so that their accesses can be combined. Returns the
/// values that the last iteration yields; the first one gets `carried`.
llvm::SmallVector<mlir::Value> cloneIterations(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                                               mlir::Value chunk, int64_t count,
                                               mlir::ValueRange carried,
                                               const mlir::IRMapping &outer);

/// The neighbouring iterations of `loop` that one thread takes.
int64_t neighboursOf(mlir::scf::ForOp loop);

/// Writes operations that a group of threads executes together: all threads compute scalars, one
/// thread stores them, and the threads divide the loops. The order of sums depends only on the
/// number of threads.
class GroupEmitter {
public:
  /// `lane` of `lanes` threads of kind `threads` in `launch`. `stores`, a truth value, says
  /// whether the group's iteration exists; null: it does.
  GroupEmitter(mlir::OpBuilder &builder, mlir::gpu::LaunchOp launch, Threads threads,
               mlir::Value lane, int64_t lanes, mlir::Value stores)
      : builder(builder), launch(launch), threads(threads), lane(lane), lanes(lanes),
        stores(stores) {}

  /// Maps values of the operations to write to their values here.
  mlir::IRMapping mapping;

  void emit(mlir::Operation &op);

private:
  mlir::Value endOf(mlir::scf::ForOp loop, int64_t count, std::optional<int64_t> rounds);
  void emitLoop(mlir::scf::ForOp loop);
  void emitStore(mlir::Operation &store);
  void order(mlir::Operation &op);
  void barrier();
  mlir::Value combine(mlir::Value value, mlir::Operation *combiner);
  mlir::Value combineInWarp(mlir::Value value, mlir::Operation *combiner, int64_t width);
  mlir::Value combineInBlock(mlir::Value value, mlir::Operation *combiner);
  mlir::Value combineInColumn(mlir::Value value, mlir::Operation *combiner);
  mlir::Value shared(mlir::Type element, llvm::ArrayRef<int64_t> shape);
  mlir::Value index(int64_t value);

  mlir::OpBuilder &builder;
  mlir::gpu::LaunchOp launch;
  Threads threads;
  mlir::Value lane;
  int64_t lanes;
  mlir::Value stores;
  /// Memory that threads of the group touched since they last waited for each other.
  llvm::DenseSet<mlir::Value> read, written;
};

} // namespace zero

#endif // LIB_CODEGEN_GPU_GPUGROUP_H
