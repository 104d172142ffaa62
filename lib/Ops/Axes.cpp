//===- Axes.cpp - dimensions that nodes name ------------------------------===//

#include "zero/Ops/Axes.h"

#include "Lowering.h"

using namespace mlir;

namespace zero {

SmallVector<int64_t> permutationOf(onnx::NodeOp transpose) {
  if (auto permutation = transpose.getInts("perm"))
    return *permutation;
  auto reversed = llvm::to_vector(llvm::seq<int64_t>(transpose.inputType(0).getRank()));
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

std::optional<SmallVector<int64_t>> listedAxes(onnx::NodeOp reduction) {
  std::optional<SmallVector<int64_t>> axes = reduction.hasInput(1)
                                                 ? ops::constantInts(reduction.getInputs()[1])
                                                 : reduction.getInts("axes");
  if (!axes)
    return reduction.hasInput(1) ? std::nullopt : std::optional(SmallVector<int64_t>());
  for (int64_t &axis : *axes)
    axis = ops::normalAxis(axis, reduction.inputType(0).getRank());
  return axes;
}

} // namespace zero
