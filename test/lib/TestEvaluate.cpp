//===- TestEvaluate.cpp - evaluate nodes on constants, for tests ----------===//

#include "test/lib/Passes.h"
#include "zero/Ops/Evaluate.h"
#include "zero/Ops/OpTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_TESTEVALUATENODES
#include "test/lib/Passes.h.inc"

static void replaceKnown(onnx::NodeOp node) {
  auto operands = llvm::map_to_vector(node.getInputs(), [](Value value) {
    DenseElementsAttr known;
    matchPattern(value, m_Constant(&known));
    return known;
  });
  bool exact = true;
  auto results = ops::evaluateNode(node, operands, exact);
  if (results.empty())
    return;
  emitRemark(node.getLoc()) << "evaluated: " << node.getOpType() << " " << node.getNode();
  OpBuilder builder(node);
  for (auto [value, result] : llvm::zip_equal(node.getOutputs(), results))
    value.replaceAllUsesWith(arith::ConstantOp::create(builder, node.getLoc(), result));
  node.erase();
}

namespace {
struct TestEvaluateNodes : impl::TestEvaluateNodesBase<TestEvaluateNodes> {
  void runOnOperation() override {
    for (const ops::OpDef &def : ops::allOps())
      if (def.evaluator)
        emitRemark(getOperation().getLoc()) << "has evaluation: " << def.type;
    SmallVector<onnx::NodeOp> nodes;
    getOperation().walk([&](onnx::NodeOp node) { nodes.push_back(node); });
    for (onnx::NodeOp node : nodes)
      replaceKnown(node);
  }
};
} // namespace

} // namespace zero
