//===- Layers.h - the layers of a step and what they save -------*- C++ -*-===//
//
// Forward, once it is launches of kernels, as a chain of layers: what
// `zero-place-activations` and planners decide about.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_ANALYSIS_LAYERS_H
#define ZERO_ANALYSIS_LAYERS_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace zero {

/// A result of a launch of forward that something else reads.
struct LayerValue {
  mlir::Value value;
  int64_t bytes = 0;
  /// The layer that makes it, and the last one whose forward reads it; the number of
  /// layers for what follows the last one.
  int64_t layer = 0;
  int64_t lastLayer = 0;
  /// Backward reads it: it is kept from forward on unless it is made again.
  bool isSaved = false;
  /// It has to be kept: what is no part of backward reads it, or its launch cannot run
  /// again.
  bool isPinned = false;
  /// A kernel of forward overwrites it: it cannot be kept, only made again.
  bool isOverwritten = false;

  bool crosses() const { return lastLayer > layer; }
};

/// The layers of forward. Where launches of like kernels repeat, a layer is a period,
/// cut where the fewest bytes go from one to the next; elsewhere it lies between cuts
/// that one value crosses, as short as it has something to make again. What follows the
/// last layer, the loss as a rule, belongs to none, and so does what precedes a
/// repetition. Linear in the step.
class Layers {
public:
  /// `step` is launches; `module` holds their kernels.
  Layers(mlir::ModuleOp module, mlir::func::FuncOp step);

  int64_t count() const { return numLayers; }
  /// Launches of a layer that repeats; 0 where none does.
  int64_t period() const { return numRepeated; }
  /// The layer of a launch of forward; -1 outside of all.
  int64_t layerOf(mlir::Operation *launch) const;
  /// What launches of layers make, in the order of the program.
  llvm::ArrayRef<LayerValue> values() const { return allValues; }
  /// The ops of forward.
  const llvm::DenseSet<mlir::Operation *> &forward() const { return forwardOps; }

private:
  /// A result by the positions of launches that make it and last read it.
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
  llvm::DenseSet<mlir::Operation *> backwardOps;        ///< that lead to gradients
  llvm::DenseSet<mlir::Operation *> trainedOps;         ///< computed from parameters
  llvm::SmallVector<LaunchOp> launches;                 ///< of forward, until backward starts
  llvm::DenseMap<mlir::Operation *, int64_t> positions; ///< of these
  std::vector<Made> made;
  llvm::DenseMap<mlir::Operation *, int64_t> layers;
  llvm::SmallVector<LayerValue> allValues;
  int64_t numLayers = 0;
  int64_t numRepeated = 0;
};

/// Whether `op` runs once for each micro-batch, whatever the step's values are.
bool runsAlways(mlir::Operation *op);

} // namespace zero

#endif // ZERO_ANALYSIS_LAYERS_H
