//===- CommandBuilder.h - convert ops of the step to commands ---*- C++ -*-===//

#ifndef LIB_EMIT_COMMANDBUILDER_H
#define LIB_EMIT_COMMANDBUILDER_H

#include "ValueNumbers.h"
#include "dialects/Zero/Mesh.h"
#include "runtime/format/executable.pb.h"
#include "zero/Analysis/Storage.h"
#include "zero/Kernels/KernelMessage.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

namespace proto = rt::proto;

proto::Tier tierOf(Tier tier);

/// Converts ops to commands, in the order of the step.
class CommandBuilder {
public:
  CommandBuilder(mlir::ModuleOp module, mlir::func::FuncOp step, const Storage &storage,
                 const llvm::StringMap<uint32_t> &kernels);

  /// Appends the commands of the step to `program`'s segments, and the predicates of these
  /// commands. `program` must already have the number of micro-batches.
  void build(proto::Program &program);

  /// The address of `value` in the arena for its readers.
  proto::Address address(mlir::Value value);
  ValueNumbers &numbers() { return values; }
  /// The arena offset of root `index`.
  int64_t rootOffset(int64_t index) const { return offsets[index]; }

private:
  void listInputs(llvm::ArrayRef<mlir::Operation *> ops);
  uint32_t predicate(mlir::Value condition);
  void buildMoves(mlir::Operation *op);
  void buildOp(mlir::Operation &op);
  void buildLaunch(LaunchOp launch);
  void describeGradient(LaunchOp launch, proto::Launch::Gradient &gradient) const;
  void buildCopy(LaneOpInterface op);
  void buildCollective(CollectiveOpInterface op);
  proto::Command *add(mlir::Operation *op, proto::Lane lane);
  proto::Address address(Place place) const;
  /// The address of `value` for the command that writes it.
  proto::Address target(mlir::Value value);
  bool isAccumulator(int64_t root) const;
  proto::Rename *rename(Place place, int64_t bytes, uint32_t from, uint32_t to);
  void renameMembers(BucketOp bucket);
  void renameState(WriteOp write);
  void renameAccumulators(llvm::ArrayRef<mlir::Operation *> ops);

  mlir::SymbolTable symbols;
  Mesh mesh;
  mlir::func::FuncOp step;
  const Storage &storage;
  ValueNumbers values;
  const llvm::StringMap<uint32_t> &kernels;
  /// The ops that an evaluation runs.
  llvm::DenseSet<mlir::Operation *> forward;
  llvm::SmallVector<int64_t> offsets;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<const Move *, 1>> moves;
  proto::Program *program = nullptr;
  llvm::DenseMap<mlir::Value, uint32_t> predicates;
  proto::Segment *segment = nullptr;
};

} // namespace zero

#endif // LIB_EMIT_COMMANDBUILDER_H
