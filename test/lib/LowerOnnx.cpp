//===- OnnxToLinalg.cpp - lowers nodes in place ---------------------------===//

#include "test/lib/Passes.h"
#include "zero/Ops/OpTable.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_LOWERONNX
#include "test/lib/Passes.h.inc"

/// A lowering represents `onnx.none` as a null operand.
static SmallVector<Value> operandsOf(onnx::NodeOp node) {
  SmallVector<Value> inputs(node.getInputs());
  for (Value &input : inputs)
    if (isa<NoneType>(input.getType()))
      input = nullptr;
  return inputs;
}

static LogicalResult lowerNode(onnx::NodeOp node) {
  OpBuilder builder(node);
  ops::Lowered lowered;
  if (failed(ops::lower(node, operandsOf(node), builder, lowered)))
    return failure();
  for (auto [result, value] : llvm::zip(node.getOutputs(), lowered.results))
    if (!isa<NoneType>(result.getType()) && result.getType() != value.getType())
      return node.emitError() << "in place " << node.describe() << " cannot be lowered to "
                              << result.getType() << ", only in a kernel";
  for (const ops::RangeCheck &check : lowered.checks)
    CheckOp::create(builder, node.getLoc(), check.pair, check.lower, check.upper, check.message);
  node.replaceAllUsesWith(lowered.results);
  node.erase();
  return success();
}

namespace {
struct LowerOnnx : impl::LowerOnnxBase<LowerOnnx> {
  void runOnOperation() override {
    SmallVector<onnx::NodeOp> nodes;
    getOperation().walk([&](onnx::NodeOp node) { nodes.push_back(node); });
    for (onnx::NodeOp node : nodes)
      if (failed(lowerNode(node)))
        return signalPassFailure();
    getOperation().walk([](onnx::NoneOp none) {
      if (none->use_empty())
        none.erase();
    });
  }
};
} // namespace

} // namespace zero
