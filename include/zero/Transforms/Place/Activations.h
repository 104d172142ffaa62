//===- Activations.h - what forward keeps for backward ----------*- C++ -*-===//
//
// A decision about activations is attributes, which anyone may write before
// `zero-recompute-activations` applies them:
//
//   layer       of launches of forward: the number of a layer, ascending in the program;
//   kept        of these: the results that stay for backward, and for what runs again;
//   zero.runs   on the step: for each layer the `#zero.run` that makes its other values.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_TRANSFORMS_PLACE_ACTIVATIONS_H
#define ZERO_TRANSFORMS_PLACE_ACTIVATIONS_H

#include "zero/Analysis/Layers.h"

namespace zero {

struct ActivationPlan {
  /// Of `Layers::values()`, by index: stays from forward on. Whatever is pinned stays,
  /// and what a kernel overwrites cannot, whatever is said here.
  std::vector<bool> kept;
  /// Each layer belongs to one run.
  llvm::SmallVector<RunAttr> runs;
};

/// One checkpoint for each layer: what goes from one to another is kept, what lies
/// inside is made again, layer by layer.
ActivationPlan keepLayerOutputs(mlir::MLIRContext *context, const Layers &layers);

/// Chen's checkpoints between segments of layers, each made again as a whole; see
/// planning::sublinearSegments.
ActivationPlan keepSegments(mlir::MLIRContext *context, const Layers &layers);

/// At most `slots` checkpoints at a time, whose states are stored anew on the way back; see
/// planning::revolve.
ActivationPlan keepSlots(mlir::MLIRContext *context, const Layers &layers, int64_t slots);

/// Bytes that stay from forward to backward of what layers make, by `plan`; all that
/// backward reads without one.
int64_t keptBytes(const Layers &layers, const ActivationPlan *plan = nullptr);

/// Writes `plan` as attributes on `step`, of which `layers` are.
void writeActivationPlan(mlir::func::FuncOp step, const Layers &layers, const ActivationPlan &plan);

} // namespace zero

#endif // ZERO_TRANSFORMS_PLACE_ACTIVATIONS_H
