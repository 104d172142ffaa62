//===- LayerRuns.h - what was decided about activations ---------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_PLACE_LAYERRUNS_H
#define ZERO_TRANSFORMS_PLACE_LAYERRUNS_H

#include "zero/Analysis/Layers.h"

namespace zero {

/// Reads `layer` and `kept` of launches, and `zero.runs`; see zero/Transforms/Activations.h.
class LayerRuns {
public:
  LayerRuns(mlir::ModuleOp module, mlir::func::FuncOp step);

  /// Fails after an error where the attributes contradict each other.
  llvm::LogicalResult read();

  bool isForward(mlir::Operation *op) const { return forward.contains(op); }
  /// The position of an op that was there when this was made.
  int64_t position(mlir::Operation *op) const { return positions.lookup(op); }
  /// Whether `value`, no view, is what forward made of it, when backward reads it.
  bool isThere(mlir::Value value) const;
  /// The values, views looked through, whose buffers results of `launch` take.
  llvm::SmallVector<mlir::Value> overwrittenBy(LaunchOp launch) const;
  /// Floating-point operations of a launch.
  double flopsOf(LaunchOp launch) const;

  llvm::ArrayRef<LaunchOp> launches(int64_t layer) const { return layers[layer]; }
  /// What layers `first` to `last` make and those behind read.
  llvm::SmallVector<mlir::Value> outputs(int64_t first, int64_t last) const;
  llvm::ArrayRef<RunAttr> runs() const { return allRuns; }
  /// The run that makes values of `layer` again; -1 if there is none.
  int64_t runOf(int64_t layer) const { return layer < 0 ? -1 : runOfLayer[layer]; }
  /// The runs over several layers whose last layer's parameters backward first reads in
  /// `op`: if they begin there, one gather serves them and that layer's backward.
  llvm::ArrayRef<int64_t> runsAt(mlir::Operation *op) const;

private:
  llvm::LogicalResult readLaunches();
  llvm::LogicalResult readRuns();
  void findBeginnings();

  mlir::func::FuncOp step;
  mlir::SymbolTable symbols;
  llvm::DenseSet<mlir::Operation *> forward;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::DenseSet<mlir::Value> overwritten; ///< by launches of forward
  llvm::SmallVector<llvm::SmallVector<LaunchOp>> layers;
  llvm::DenseMap<mlir::Value, int64_t> lastLayers; ///< that read a value forward
  llvm::SmallVector<RunAttr> allRuns;
  llvm::SmallVector<int64_t> runOfLayer;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t, 1>> beginnings;
};

/// The layer that `op` is said to be of; -1 if none.
int64_t layerOf(mlir::Operation *op);

} // namespace zero

#endif // ZERO_TRANSFORMS_PLACE_LAYERRUNS_H
