//===- NodeSizes.cpp - limits of tensor sizes -----------------------------===//

#include "NodeSizes.h"

#include "dialects/Onnx/Onnx.h"
#include "runtime/support/checked.h"

using namespace mlir;

namespace zero {

static constexpr int64_t kMaxTensorBytes = int64_t(1) << 40;

static bool isWithinLimit(RankedTensorType type) {
  if (llvm::is_contained(type.getShape(), 0))
    return true;
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  return checkedProduct(type.getShape(), kMaxTensorBytes, bytes);
}

LogicalResult checkNodeSizes(func::FuncOp step) {
  for (auto node : step.getBody().getOps<onnx::NodeOp>())
    for (Value result : node.getOutputs()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (type && !isWithinLimit(type))
        return node.emitError() << node.describe() << ": computing it takes a tensor of " << type
                                << "; expected at most 1 TiB";
    }
  return success();
}

} // namespace zero
