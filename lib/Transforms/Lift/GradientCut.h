//===- GradientCut.h - what a gradient is computed from ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_LIFT_GRADIENTCUT_H
#define LIB_TRANSFORMS_LIFT_GRADIENTCUT_H

#include "dialects/Onnx/Onnx.h"

#include <optional>

namespace zero {

/// A value through which alone what may be a gradient depends on the batch, and a node between both
/// that is not linear.
struct NonlinearCut {
  mlir::Value value;
  onnx::NodeOp node;
};

/// Looks behind `gradient` for such a value, which has as many elements, of which each element of
/// `gradient` follows from one, or which is combined with state.
/// Then `gradient` is none: the value is, or comes from it, and the update is not elementwise.
/// `isLocal` says whether ranks compute a value differently, `isSource` whether it is an input or
/// the loss depends on it, `isOfState` whether it follows from state that the loss does not read.
std::optional<NonlinearCut> findNonlinearCut(mlir::Value gradient,
                                             llvm::function_ref<bool(mlir::Value)> isLocal,
                                             llvm::function_ref<bool(mlir::Value)> isSource,
                                             llvm::function_ref<bool(mlir::Value)> isOfState);

} // namespace zero

#endif // LIB_TRANSFORMS_LIFT_GRADIENTCUT_H
