//===- Mesh.h - the axes of the ranks of a program --------------*- C++ -*-===//

#ifndef DIALECTS_ZERO_MESH_H
#define DIALECTS_ZERO_MESH_H

#include "dialects/Zero/Zero.h"

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// On the module: its `#zero.mesh`, if it has more than one axis.
inline constexpr llvm::StringLiteral kMeshAttr = "zero.mesh";
/// On a parameter or state: its `#zero.shard`.
inline constexpr llvm::StringLiteral kShardAttr = "zero.shard";
/// On an op of forward: the numbers of the results that all ranks along the axis tensor hold alike.
inline constexpr llvm::StringLiteral kReplicatedAttr = "zero.replicated";
/// The axis along which ranks have different parts of the batch.
inline constexpr llvm::StringLiteral kDataAxis = "data";
/// The same ranks where `data` is divided into nodes: the axis across nodes, and that within one.
inline constexpr llvm::StringLiteral kNodeAxis = "node";
inline constexpr llvm::StringLiteral kLocalAxis = "local";
/// The axis along which ranks have different parts of the sequences of the same samples. As along
/// `data`, they compute with the same parameters, so their gradients are summed and they share
/// state.
inline constexpr llvm::StringLiteral kContextAxis = "context";
/// The axis along which ranks have shards of parameters and activations.
inline constexpr llvm::StringLiteral kTensorAxis = "tensor";
/// The beginning of the binding of an i64 scalar: the coordinate of the rank along the axis whose
/// name follows.
inline constexpr llvm::StringLiteral kCoordinatePrefix = "zero.coordinate.";

/// The mesh of a program. Before `place` the size of `data` may be unknown; it counts as 1.
class Mesh {
public:
  explicit Mesh(mlir::ModuleOp module);

  int64_t ranks() const;
  /// The number of ranks along axis `name`: 1 if there is no such axis.
  int64_t sizeOf(llvm::StringRef name) const;
  /// Ranks that have different tokens: parts of the batch, and of its sequences. Their gradients
  /// are summed.
  int64_t dataRanks() const;
  /// Whether these are divided into nodes.
  bool hasNodes() const;
  int64_t tensorRanks() const { return sizeOf(kTensorAxis); }
  int64_t contextRanks() const { return sizeOf(kContextAxis); }
  /// Whether the batch is cut along axis `name`.
  static bool cutsBatch(llvm::StringRef name);
  /// Whether ranks of `group` exchange activations, not parameters or gradients.
  bool exchangesActivations(GroupAttr group) const;
  /// Whether this mesh has the axis `name` and ranks of `group` differ along it; null means all.
  bool isAlong(GroupAttr group, llvm::StringRef name) const;
  /// The index of axis `name`, which there is.
  unsigned indexOf(llvm::StringRef name) const;
  /// The number of ranks of `group`; null means all.
  int64_t sizeOf(GroupAttr group) const;
  /// The number of slices of a tensor with `placement`.
  int64_t shardsOf(PlacementAttr placement) const;
  /// By how much the index of a rank's slice in `group` changes for a step along each axis: the
  /// axes of the group are listed with the outermost first.
  llvm::SmallVector<int64_t> stridesIn(GroupAttr group) const;
  /// The group of the ranks along axis `name`; null if these are all ranks.
  GroupAttr groupOf(llvm::StringRef name) const;
  /// The group of the ranks that have different tokens; null if these are all ranks.
  GroupAttr dataGroup() const;
  /// The axes over which a bucket is cut into `shards` equal slices, the outermost first; none if
  /// there are no such axes. Slices of nodes' places come first, so that those of the ranks at one
  /// place of all nodes follow each other, and are one slice of the ranks of a node.
  llvm::SmallVector<llvm::StringRef> shardAxes(int64_t shards) const;
  /// The group of the ranks that have different ones of `shards` slices, but within the same one of
  /// `outer` slices; null if these are all ranks, in order. Expects axes for both.
  GroupAttr sliceGroup(int64_t shards, int64_t outer = 1) const;

  llvm::ArrayRef<std::pair<std::string, int64_t>> axes() const { return all; }

private:
  GroupAttr groupOver(llvm::ArrayRef<llvm::StringRef> names) const;

  mlir::MLIRContext *context;
  llvm::SmallVector<std::pair<std::string, int64_t>> all; ///< the outermost first
};

/// Writes on `module` that its ranks have `axes`, the outermost first.
void setMesh(mlir::ModuleOp module, llvm::ArrayRef<std::pair<std::string, int64_t>> axes);

/// Divides the axis `data` of `module`, of `ranks` ranks, into nodes of `local` ranks: the axes
/// `node` and `local`. Expects that `local` divides `ranks`.
void cutIntoNodes(mlir::ModuleOp module, int64_t ranks, int64_t local);

/// The shard of `op`, a parameter or state, or null if each rank has the whole tensor.
ShardAttr shardOf(mlir::Operation *op);
/// The shape of the model's tensor of which `op` has a shard of `type`.
llvm::SmallVector<int64_t> wholeShape(mlir::Operation *op, mlir::RankedTensorType type);

} // namespace zero

#endif // DIALECTS_ZERO_MESH_H
