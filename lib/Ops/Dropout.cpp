//===- Dropout.cpp --------------------------------------------------------===//
//
// ONNX: Dropout. With ratio 0, or outside of training mode,
// it is the identity and its mask is all true. Anything else is refused.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {

/// Whether `node` passes its operand on as it is.
static bool keepsAll(onnx::NodeOp node) {
  if (!node.hasInput(2) || splatNumber(node.getInputs()[2]) == 0.0)
    return true;
  return node.hasInput(1) && splatNumber(node.getInputs()[1]) == 0.0;
}

static LogicalResult expandDropout(onnx::NodeOp node, NodeBuilder &builder,
                                   SmallVectorImpl<Value> &results) {
  if (!keepsAll(node))
    return nodeError(node) << "a ratio other than 0 in training mode is not "
                              "supported yet";
  results.push_back(node.getInputs().front());
  if (node.getOutputs().size() > 1) {
    auto kept = DenseElementsAttr::get(node.outputType(1), true);
    results.push_back(arith::ConstantOp::create(builder.getBuilder(), builder.getLoc(), kept));
  }
  return success();
}

void registerDropout() {
  registerOp({"", "Dropout", 13, kNewestOpset, Kind::Other, nullptr, nullptr, expandDropout});
}

} // namespace zero::ops
