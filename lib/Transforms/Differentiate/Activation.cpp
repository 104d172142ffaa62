//===- Activation.cpp - what a gradient visits ----------------------------===//

#include "Activation.h"

#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Program/WritePlainly.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {

SmallVector<Operation *> opsBetween(Block &block, ValueRange ends, Value target) {
  llvm::DenseSet<Value> known(ends.begin(), ends.end());
  llvm::DenseSet<Operation *> needed;
  SmallVector<Value> open{target};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!known.contains(value) && op && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (needed.contains(&op))
      ops.push_back(&op);
  return ops;
}

/// The nodes between `before`, or the begin of the block, and `end`.
static SmallVector<onnx::NodeOp> nodesBefore(Operation *end, Operation *before) {
  SmallVector<onnx::NodeOp> nodes;
  Operation *op = before ? before->getNextNode() : &end->getBlock()->front();
  for (; op != end; op = op->getNextNode())
    if (auto node = dyn_cast<onnx::NodeOp>(op))
      nodes.push_back(node);
  return nodes;
}

/// Replaces `node` by nodes that compute the same. Returns these, in order; nothing if there are
/// none, or if they contain the operator itself.
static SmallVector<onnx::NodeOp> replaceByPlainForm(onnx::NodeOp node, Value &target) {
  Operation *before = node->getPrevNode();
  std::string lacking;
  FailureOr<SmallVector<Value>> results = writePlainly(node, PlainUse::Differentiate, lacking);
  if (failed(results))
    return {};
  SmallVector<onnx::NodeOp> written = nodesBefore(node, before);
  bool repeats =
      llvm::any_of(written, [&](onnx::NodeOp other) { return other.is(node.getOperator()); });
  if (repeats) {
    for (onnx::NodeOp other : llvm::reverse(written))
      other.erase();
    return {};
  }
  for (auto [output, result] : llvm::zip_equal(node.getOutputs(), *results)) {
    if (!result)
      continue;
    output.replaceAllUsesWith(result);
    target = target == output ? result : target;
  }
  node->dropAllUses();
  node.erase();
  return written;
}

SmallVector<Operation *> activate(ArrayRef<Operation *> ops, ReverseMode &reverse, Value &target) {
  SmallVector<Operation *> visited;
  // The next op is the last one.
  SmallVector<Operation *> open(llvm::reverse(ops));
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    auto node = dyn_cast<onnx::NodeOp>(op);
    if (!node && llvm::any_of(op->getOperands(), [&](Value v) { return reverse.isActive(v); }))
      for (Value result : op->getResults())
        reverse.activate(result);
    if (node && reverse.lacksRule(node))
      if (SmallVector<onnx::NodeOp> written = replaceByPlainForm(node, target); !written.empty()) {
        open.append(written.rbegin(), written.rend());
        continue;
      }
    if (node)
      reverse.propagate(node);
    visited.push_back(op);
  }
  return visited;
}

void noteZeroDerivatives(InFlightDiagnostic &error, ValueRange starts) {
  constexpr size_t kMost = 3;
  llvm::SetVector<Value> reached(starts.begin(), starts.end());
  llvm::SetVector<Operation *> ends;
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      auto node = dyn_cast<onnx::NodeOp>(user);
      const ops::OpDef *def = node ? ops::lookup(node) : nullptr;
      if (def && def->piecewiseConstant)
        ends.insert(node);
      else if (node)
        reached.insert_range(node.getOutputs());
    }
  for (Operation *end : ends.getArrayRef().take_front(kMost)) {
    auto node = cast<onnx::NodeOp>(end);
    error.attachNote(node.getLoc())
        << "a path ends at " << node.describe() << ", whose derivative is zero";
  }
}

} // namespace zero
