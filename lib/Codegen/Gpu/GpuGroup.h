//===- GpuGroup.h - threads that share an iteration -------------*- C++ -*-===//

#ifndef LIB_CODEGEN_GPU_GPUGROUP_H
#define LIB_CODEGEN_GPU_GPUGROUP_H

#include "zero/Codegen/GpuLoops.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

namespace zero {

/// Clones `count` neighbouring iterations of `loop`, from `chunk` times `count` on, operation
/// by operation side by side, so that their accesses can become one. Returns what the last
/// one hands on of what the first one gets, `carried`.
llvm::SmallVector<mlir::Value> cloneIterations(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                                               mlir::Value chunk, int64_t count,
                                               mlir::ValueRange carried,
                                               const mlir::IRMapping &outer);

/// The neighbouring iterations of `loop` that one thread takes.
int64_t neighboursOf(mlir::scf::ForOp loop);

/// Writes operations for threads that run them together: all compute what is scalar, one
/// stores it, and they share the loops. What they add up is added in an order that depends
/// on nothing but their number.
class GroupEmitter {
public:
  /// `lane` of `lanes` threads of kind `threads` in `launch`. `stores`, a truth value, says
  /// whether the group's iteration exists; null: it does.
  GroupEmitter(mlir::OpBuilder &builder, mlir::gpu::LaunchOp launch, Threads threads,
               mlir::Value lane, int64_t lanes, mlir::Value stores)
      : builder(builder), launch(launch), threads(threads), lane(lane), lanes(lanes),
        stores(stores) {}

  /// Values of the operations to write, and what they are here.
  mlir::IRMapping mapping;

  void emit(mlir::Operation &op);

private:
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
