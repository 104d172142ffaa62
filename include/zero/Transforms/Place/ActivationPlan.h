//===- ActivationPlan.h - choices of saved activations ----------*- C++ -*-===//
//
// A choice of saved activations consists of attributes, which any pass may write before
// `zero-recompute-activations` applies them:
//
//   layer       of launches of forward: the number of a layer, ascending in the program;
//   kept        of these: the results that are saved for backward and for recomputation;
//   zero.runs   on the step: for each layer the `#zero.run` that recomputes its other values.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_TRANSFORMS_PLACE_ACTIVATIONPLAN_H
#define ZERO_TRANSFORMS_PLACE_ACTIVATIONPLAN_H

#include "zero/Analysis/Layers.h"

namespace zero {

struct ActivationPlan {
  /// By index in `Layers::values()`: saved from forward on. Pinned values are always saved, and
  /// values that a kernel overwrites cannot be, whatever the plan says.
  std::vector<bool> kept;
  /// Each layer belongs to one run.
  llvm::SmallVector<RunAttr> runs;
};

/// One checkpoint for each layer: the values between layers are saved, the values inside are
/// recomputed, layer by layer.
ActivationPlan keepLayerOutputs(mlir::MLIRContext *context, const Layers &layers);

/// Chen's checkpoints between segments of layers, each recomputed as a whole; see
/// planning::sublinearSegments.
ActivationPlan keepSegments(mlir::MLIRContext *context, const Layers &layers);

/// At most `slots` checkpoints at a time; states are stored again during backward; see
/// planning::revolve.
ActivationPlan keepSlots(mlir::MLIRContext *context, const Layers &layers, int64_t slots);

/// Bytes of values of layers that are saved from forward to backward under `plan`; without a plan
/// all that backward reads.
int64_t keptBytes(const Layers &layers, const ActivationPlan *plan = nullptr);

/// Writes `plan` as attributes on `step`, whose layers are `layers`.
void writeActivationPlan(mlir::func::FuncOp step, const Layers &layers, const ActivationPlan &plan);

} // namespace zero

#endif // ZERO_TRANSFORMS_PLACE_ACTIVATIONPLAN_H
