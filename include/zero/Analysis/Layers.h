//===- Layers.h - layers of a step and the values they save -----*- C++ -*-===//
// Forward as a chain of layers, after kernels are formed: the input of the decisions of
// `zero-place-activations` and of planners.
//===----------------------------------------------------------------------===//

#ifndef ZERO_ANALYSIS_LAYERS_H
#define ZERO_ANALYSIS_LAYERS_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace zero {

/// A result of a launch of forward that another op reads.
struct LayerValue {
  mlir::Value value;
  int64_t bytes = 0;
  /// The layer that computes it, and the last layer whose forward reads it; the number of layers
  /// for ops after the last layer.
  int64_t layer = 0;
  int64_t lastLayer = 0;
  /// Backward reads it: it is saved in forward or recomputed.
  bool isSaved = false;
  /// It must be saved: an op outside of backward reads it, or its launch cannot be recomputed.
  bool isPinned = false;
  /// A kernel of forward overwrites it: it cannot be saved, only recomputed.
  bool isOverwritten = false;

  bool crosses() const { return lastLayer > layer; }
};

/// The layers of forward. If launches of equal kernels repeat, a layer is a period, cut where the
/// fewest bytes cross. Otherwise a layer is between cuts that a single value crosses, and as short
/// as possible while it has values to recompute. Ops after the last layer, usually the loss, belong
/// to no layer, and neither do ops before a repetition. Linear in the step.
class Layers {
public:
  /// `step` consists of launches; `module` contains their kernels.
  Layers(mlir::ModuleOp module, mlir::func::FuncOp step);

  int64_t count() const { return numLayers; }
  /// The number of launches of a repeated layer; 0 if none repeats.
  int64_t period() const { return numRepeated; }
  /// The layer of a launch of forward; -1 for ops outside of layers.
  int64_t layerOf(mlir::Operation *launch) const;
  /// The results of launches of layers, in program order.
  llvm::ArrayRef<LayerValue> values() const { return allValues; }
  /// The ops of forward.
  const llvm::DenseSet<mlir::Operation *> &forward() const { return forwardOps; }

private:
  /// A result with the positions of the launches that compute it and last read it.
  struct Made {
    LayerValue value;
    int64_t made = 0;
    int64_t lastRead = 0;
    bool isTrained = false; ///< computed from parameters
  };

  void findLaunches(const mlir::SymbolTable &symbols);
  void findReads(mlir::Value value, Made &made) const;
  void findValues(const mlir::SymbolTable &symbols);
  bool cutByRepetition(const mlir::SymbolTable &symbols);
  void cutBetweenSingleValues();
  void setLayers(llvm::ArrayRef<int64_t> begins, int64_t end);

  mlir::func::FuncOp step;
  llvm::DenseSet<mlir::Operation *> forwardOps;
  llvm::DenseSet<mlir::Operation *> backwardOps; ///< that gradients depend on
  llvm::DenseSet<mlir::Operation *> trainedOps;  ///< computed from parameters
  /// Launches of forward, and collectives on activations, until backward starts.
  llvm::SmallVector<ActivationOpInterface> launches;
  llvm::DenseMap<mlir::Operation *, int64_t> positions; ///< of these
  std::vector<Made> made;
  llvm::DenseMap<mlir::Operation *, int64_t> layers;
  llvm::SmallVector<LayerValue> allValues;
  int64_t numLayers = 0;
  int64_t numRepeated = 0;
};

/// Whether `op`, a launch or collective, runs once for each micro-batch, independently of values of
/// the step.
bool runsAlways(mlir::Operation *op);
/// The values, through views, whose buffers results of `op`, a launch or collective, reuse.
llvm::SmallVector<mlir::Value> overwrittenBy(mlir::Operation *op, const mlir::SymbolTable &symbols);

} // namespace zero

#endif // ZERO_ANALYSIS_LAYERS_H
