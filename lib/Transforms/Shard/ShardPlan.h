//===- ShardPlan.h - which parameters are sharded ---------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SHARD_SHARDPLAN_H
#define LIB_TRANSFORMS_SHARD_SHARDPLAN_H

#include "dialects/Zero/Zero.h"
#include "zero/Ops/Sharding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace zero {

/// The parameters of a step and how they are cut over `ways` ranks.
class ShardPlan {
public:
  ShardPlan(mlir::ModuleOp module, mlir::func::FuncOp step, int64_t ways);

  /// Chooses the pairs of products, attentions, tables and losses that can be cut.
  void choose();
  /// Follows the lines of a file. Fails after an error.
  llvm::LogicalResult read(llvm::StringRef text);
  /// Follows the shardings of the program (`zero.sharded_dim`). Fails after an error.
  llvm::LogicalResult readProgram();
  /// Writes the choice on the parameters and reports it.
  void write();

private:
  struct Block;

  ParameterOp parameterOf(mlir::Value value) const;
  /// Cuts `value`, and all that its cut implies. Returns why that is impossible, or an empty text.
  std::string grow(Block &block, mlir::Value value, const ops::Cut &cut);
  std::string growBackward(Block &block, mlir::Value value, const ops::Cut &cut);
  std::string growForward(Block &block, mlir::Value value, const ops::Cut &cut);
  std::string visit(Block &block, mlir::Value value, const ops::Cut &cut);
  /// Adds the block that starts at `value`, if it ends in a product by rows.
  void tryBlock(mlir::Value value, const ops::Cut &cut, llvm::StringRef what);
  void tryTable(ParameterOp parameter);
  std::string whyNoTable(ParameterOp parameter) const;
  std::optional<ops::Cut> cutFor(ParameterOp parameter, llvm::StringRef style) const;
  llvm::SmallVector<int64_t> partsAlong(ParameterOp parameter, int64_t dim) const;
  /// Cuts `parameter`. Fails after an error that begins with `source`.
  llvm::LogicalResult cutAs(ParameterOp parameter, const ops::Cut &cut, const llvm::Twine &source);

  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  int64_t ways;
  llvm::DenseMap<mlir::StringAttr, ParameterOp> parameters;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Value, 1>> reads;
  llvm::DenseSet<mlir::Value> active;                 ///< values that depend on parameters
  llvm::DenseMap<mlir::Value, ops::Cut> cuts;         ///< of values in accepted blocks
  llvm::MapVector<mlir::StringAttr, ops::Cut> chosen; ///< by parameter
  llvm::SmallVector<std::string> refused;             ///< what stays whole, and why
};

/// The values of `step` that depend on a parameter and hold floats.
llvm::DenseSet<mlir::Value> findActive(mlir::ModuleOp module, mlir::func::FuncOp step);

/// The parts of a dimension of `extent` that is queries, keys and values one behind the other, or
/// that a Split divides, as the reader of the result of `node` says; empty if none does.
llvm::SmallVector<int64_t> packedParts(onnx::NodeOp node, int64_t extent);
/// How `node` computes if operand `operand` is cut: with shards, or, if it is a product, as a sum
/// over ranks. Nothing if it cannot.
std::optional<ops::Sharding> shardedBy(onnx::NodeOp node, unsigned operand, const ops::Cut &cut,
                                       int64_t ways);
/// Whether the sum over ranks of the results of a node is missing.
inline bool isPartial(const ops::Sharding &sharding) {
  return sharding.kind == ops::FactorKind::Sum;
}
/// The name of `op`, for messages.
std::string describe(mlir::Operation *op);

} // namespace zero

#endif // LIB_TRANSFORMS_SHARD_SHARDPLAN_H
