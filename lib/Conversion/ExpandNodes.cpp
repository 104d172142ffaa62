//===- ExpandNodes.cpp - composite nodes to simpler ones ------------------===//

#include "zero/Conversion/Passes.h"
#include "zero/Ops/OpTable.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_EXPANDNODES
#include "include/zero/Conversion/Passes.h.inc"

// An expansion that leads back to itself would never end; real ones are a few
// steps deep.
static constexpr int kMaxDepth = 16;

/// Expands `node`, and what comes of it, at most `depth` times.
static LogicalResult expandNode(onnx::NodeOp node, int depth) {
  const ops::OpDef *def = ops::lookup(node);
  if (!def || !def->expand)
    return success();
  if (depth == 0)
    return node.emitError() << "expansion of " << node.describe() << " does not end";
  OpBuilder builder(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  Operation *before = node->getPrevNode();
  SmallVector<Value> results;
  if (failed(def->expand(node, nodes, results)))
    return failure();
  if (results.empty())
    return success();
  SmallVector<onnx::NodeOp> made;
  Operation *first = before ? before->getNextNode() : &node->getBlock()->front();
  for (Operation *op = first; op != node; op = op->getNextNode())
    if (auto inner = dyn_cast<onnx::NodeOp>(op))
      made.push_back(inner);
  node.replaceAllUsesWith(results);
  node.erase();
  for (onnx::NodeOp inner : made)
    if (failed(expandNode(inner, depth - 1)))
      return failure();
  return success();
}

namespace {
struct ExpandNodes : impl::ExpandNodesBase<ExpandNodes> {
  void runOnOperation() override {
    SmallVector<onnx::NodeOp> nodes;
    getOperation().walk([&](onnx::NodeOp node) { nodes.push_back(node); });
    for (onnx::NodeOp node : nodes)
      if (failed(expandNode(node, kMaxDepth)))
        return signalPassFailure();
  }
};
} // namespace

} // namespace zero
