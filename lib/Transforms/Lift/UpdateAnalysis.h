//===- UpdateAnalysis.h - gradients and updates of a whole step -*- C++ -*-===//

#ifndef LIB_TRANSFORMS_LIFT_UPDATEANALYSIS_H
#define LIB_TRANSFORMS_LIFT_UPDATEANALYSIS_H

#include "dialects/Onnx/Onnx.h"
#include "zero/Analysis/StepFunction.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace zero {

/// A state symbol that the step reads and writes.
struct CarriedState {
  StateOp state;
  ReadOp read; ///< null if the step does not read it
  WriteOp write;
};

/// How the norms of one parameter scale its update, as LAMB's trust ratio does.
struct LayerRatio {
  mlir::Value ratio;     ///< one float, from both norms and constants
  mlir::Value direction; ///< of the parameter's shape, of which one norm is taken
  onnx::NodeOp ofWeight, ofDirection;
  llvm::SmallVector<onnx::NodeOp> nodes;          ///< between the norms and the ratio, in order
  llvm::SmallVector<onnx::NodeOp> directionNodes; ///< between new states and the direction
};

/// What makes the step of a whole matrix of its gradient, as Muon does. A direction follows element
/// by element from gradient and states. The step, of which the elements of the parameter follow one
/// by one, is computed from the direction alone, by any nodes.
struct MatrixStep {
  mlir::Value direction, step;                    ///< of the parameter's shape
  llvm::SmallVector<onnx::NodeOp> nodes;          ///< between both, in order
  llvm::SmallVector<CarriedState, 1> states;      ///< of the direction
  llvm::SmallVector<onnx::NodeOp> directionNodes; ///< of the direction and the new states, in order
  llvm::SmallVector<mlir::Value> scalars;         ///< that these read
};

/// The update of one parameter, elementwise from a gradient or the step of a matrix.
struct LiftedUpdate {
  CarriedState parameter;
  llvm::SmallVector<CarriedState, 2> states; ///< in the order in which the update reads them
  mlir::Value gradient;                      ///< of the rank's own part of the batch
  std::optional<MatrixStep> matrix;
  /// The value that the elementwise update reads.
  mlir::Value change() const { return matrix ? matrix->step : gradient; }
  /// Values of one element between the gradient and the new values that differ between ranks until
  /// norms are computed together.
  llvm::SmallVector<mlir::Value> localScalars;
  /// The nodes between these and the new values, in order.
  llvm::SmallVector<onnx::NodeOp> nodes;
  /// Operands of one element, equal on all ranks, that other nodes compute.
  llvm::SmallVector<mlir::Value> scalars;
  /// If there is one, `nodes` compute the states alone, and `lastNodes` the parameter from new
  /// states and the ratio.
  std::optional<LayerRatio> layer;
  llvm::SmallVector<onnx::NodeOp> lastNodes;
};

/// A node that computes the norm of a gradient, or the square of the norm.
struct GradientNorm {
  onnx::NodeOp node;
  mlir::Value gradient;
};

/// What a whole step does with its state. State that is in no list is a buffer of the model.
struct LiftedStep {
  std::vector<LiftedUpdate> updates;        ///< of the parameters, in the module's order
  llvm::SmallVector<CarriedState> counters; ///< of one element, from state and norms alone
  llvm::SmallVector<CarriedState> common;   ///< as counters, but of several elements
  llvm::SmallVector<GradientNorm> norms;    ///< that updates depend on
  /// The nodes between these and the scalars that updates read, in order.
  llvm::SmallVector<onnx::NodeOp> normNodes;
  mlir::BlockArgument learningRate; ///< null if the rate is in the graph
};

/// Finds the gradients and updates of a step whose results and writes are as the model's. Fails
/// after an error that names the value for which a parameter's update is not elementwise, or needs
/// more of the batch than one gradient.
llvm::FailureOr<LiftedStep> analyseUpdates(mlir::ModuleOp module, mlir::func::FuncOp step);

} // namespace zero

#endif // LIB_TRANSFORMS_LIFT_UPDATEANALYSIS_H
