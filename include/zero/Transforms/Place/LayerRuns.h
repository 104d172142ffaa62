//===- LayerRuns.h - activation choices read from attributes ----*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_PLACE_LAYERRUNS_H
#define ZERO_TRANSFORMS_PLACE_LAYERRUNS_H

#include "zero/Analysis/Layers.h"

namespace zero {

/// Reads `layer` and `kept` of launches and collectives, and `zero.runs`; see
/// zero/Transforms/Activations.h. Fails after an error if the attributes contradict each other.
class LayerRuns {
public:
  LayerRuns(mlir::ModuleOp module, mlir::func::FuncOp step);

  /// Fails after an error where the attributes contradict each other.
  llvm::LogicalResult read();

  bool isForward(mlir::Operation *op) const { return forward.contains(op); }
  /// The position of an op that existed when this was constructed.
  int64_t position(mlir::Operation *op) const { return positions.lookup(op); }
  /// Whether `value`, which is not a view, still has its value of forward when backward reads it.
  bool isThere(mlir::Value value) const;
  /// The values, through views, whose buffers results of `op` reuse.
  llvm::SmallVector<mlir::Value> overwrittenBy(mlir::Operation *op) const;
  /// Floating-point operations of `op`: of a launch.
  double flopsOf(mlir::Operation *op) const;

  /// The launches and collectives of `layer`.
  llvm::ArrayRef<ActivationOpInterface> ops(int64_t layer) const { return layers[layer]; }
  /// The values of layers `first` to `last` that later layers read.
  llvm::SmallVector<mlir::Value> outputs(int64_t first, int64_t last) const;
  llvm::ArrayRef<RunAttr> runs() const { return allRuns; }
  /// The run that recomputes values of `layer`; -1 if there is none.
  int64_t runOf(int64_t layer) const { return layer < 0 ? -1 : runOfLayer[layer]; }
  /// The runs over several layers for which backward first reads the parameters of the last layer
  /// in `op`: if such a run starts there, one gather serves the run and the backward of that layer.
  llvm::ArrayRef<int64_t> runsAt(mlir::Operation *op) const;

private:
  llvm::LogicalResult readLaunches();
  llvm::LogicalResult readRuns();
  void findBeginnings();

  mlir::func::FuncOp step;
  mlir::SymbolTable symbols;
  llvm::DenseSet<mlir::Operation *> forward;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::DenseSet<mlir::Value> overwritten; ///< by ops of forward
  llvm::SmallVector<llvm::SmallVector<ActivationOpInterface>> layers;
  llvm::DenseMap<mlir::Value, int64_t> lastLayers; ///< that read a value in forward
  llvm::SmallVector<RunAttr> allRuns;
  llvm::SmallVector<int64_t> runOfLayer;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t, 1>> beginnings;
};

/// The layer of `op` by its attribute; -1 if none.
int64_t layerOf(mlir::Operation *op);

} // namespace zero

#endif // ZERO_TRANSFORMS_PLACE_LAYERRUNS_H
