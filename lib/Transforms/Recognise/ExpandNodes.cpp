//===- ExpandNodes.cpp - expand composite nodes ---------------------------===//

#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Recognise/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_EXPANDNODES
#include "include/zero/Transforms/Recognise/Passes.h.inc"

// An expansion that leads back to itself would never end; real ones are a few
// steps deep.
static constexpr int kMaxDepth = 16;

/// The nodes from `first` up to `end`, after erasing those that are only needed for unused results.
static SmallVector<onnx::NodeOp> keepUsed(Operation *first, Operation *end) {
  SmallVector<onnx::NodeOp> made;
  for (Operation *op = first; op != end; op = op->getNextNode())
    if (auto node = dyn_cast<onnx::NodeOp>(op))
      made.push_back(node);
  SmallVector<onnx::NodeOp> used;
  for (onnx::NodeOp node : llvm::reverse(made)) {
    if (isOpTriviallyDead(node))
      node.erase();
    else
      used.push_back(node);
  }
  std::reverse(used.begin(), used.end());
  return used;
}

/// `value` as `output`'s float type, where they are two.
static Value inTypeOf(Value output, Value value, NodeBuilder &nodes) {
  auto expected = dyn_cast<RankedTensorType>(output.getType());
  auto given = dyn_cast<RankedTensorType>(value.getType());
  if (!expected || !given || !isa<FloatType>(expected.getElementType()) ||
      !isa<FloatType>(given.getElementType()))
    return value;
  return nodes.cast(value, expected.getElementType());
}

/// Expands `node` and the nodes of its expansion, at most `depth` times.
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
  for (auto [result, output] : llvm::zip(results, node.getOutputs()))
    result = inTypeOf(output, result, nodes);
  node.replaceAllUsesWith(results);
  Operation *first = before ? before->getNextNode() : &node->getBlock()->front();
  SmallVector<onnx::NodeOp> made = keepUsed(first, node);
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
