//===- DecomposeNodes.cpp - write a step in plain ONNX operators ----------===//

#include "PlainForms.h"
#include "zero/Analysis/FunctionalStep.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/EmitOnnx/Passes.h"
#include "zero/Transforms/Program/LinalgNodes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_DECOMPOSENODES
#include "include/zero/Transforms/EmitOnnx/Passes.h.inc"
} // namespace zero

using namespace zero;

static InFlightDiagnostic refuse(onnx::NodeOp node) {
  return node.emitError() << node.describe()
                          << " has no form in plain ONNX operators: expected a model without it";
}

static bool hasUnsigned(onnx::NodeOp node) {
  auto isUnsigned = [](Value value) {
    return getElementTypeOrSelf(value.getType()).isUnsignedInteger();
  };
  return llvm::any_of(node.getInputs(), isUnsigned) || llvm::any_of(node.getOutputs(), isUnsigned);
}

/// The ops between `before`, or the begin of the block, and `node`.
static SmallVector<Operation *> opsBetween(Operation *before, Operation *node) {
  SmallVector<Operation *> ops;
  Operation *first = before ? before->getNextNode() : &node->getBlock()->front();
  for (Operation *op = first; op != node; op = op->getNextNode())
    ops.push_back(op);
  return ops;
}

/// Writes `node` as its lowering computes it.
static LogicalResult fromLowering(onnx::NodeOp node, NodeBuilder &nodes,
                                  SmallVectorImpl<Value> &results) {
  const ops::OpDef *def = ops::lookup(node);
  if (!def || !def->lower || hasUnsigned(node))
    return refuse(node);
  SmallVector<Value> inputs;
  for (Value input : node.getInputs())
    inputs.push_back(isa<NoneType>(input.getType()) ? Value() : input);
  Operation *before = node->getPrevNode();
  ops::Lowered lowered;
  if (failed(ops::lower(node, inputs, nodes.getBuilder(), lowered)))
    return failure();
  SmallVector<Operation *> made = opsBetween(before, node);
  LinalgNodes kernel(nodes);
  for (Value input : inputs)
    if (input)
      kernel.bind(input, input);
  for (auto [result, output] : llvm::zip_equal(lowered.results, node.getOutputs())) {
    if (isa<NoneType>(output.getType()) || output.use_empty()) {
      results.push_back(Value());
      continue;
    }
    results.push_back(kernel.translate(result));
    if (!results.back()) {
      InFlightDiagnostic error = refuse(node);
      if (Operation *op = kernel.culprit())
        error.attachNote(node.getLoc()) << "its lowering needs '" << op->getName() << "'";
      return error;
    }
  }
  for (Operation *op : llvm::reverse(made)) {
    op->dropAllUses();
    op->erase();
  }
  return success();
}

static LogicalResult decompose(onnx::NodeOp node) {
  OpBuilder builder(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  SmallVector<Value> results;
  ops::ExpandFn rule = plainForm(node);
  if (rule && failed(rule(node, nodes, results)))
    return failure();
  if (results.empty() && isPlain(node))
    return success();
  if (results.empty() && failed(fromLowering(node, nodes, results)))
    return failure();
  for (auto [output, result] : llvm::zip_equal(node.getOutputs(), results))
    if (result)
      output.replaceAllUsesWith(result);
  // An unused result may be left out, but a none is a value.
  node->dropAllUses();
  node.erase();
  return success();
}

namespace {
struct DecomposeNodes : zero::impl::DecomposeNodesBase<DecomposeNodes> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    // One error for each operator says enough.
    SmallVector<std::pair<StringRef, StringRef>> refused;
    for (auto node : llvm::to_vector(step->getBody().getOps<onnx::NodeOp>())) {
      std::pair type(node.getDomain(), node.getOpType());
      if (isOpTriviallyDead(node))
        node.erase();
      else if (!llvm::is_contained(refused, type) && failed(decompose(node)))
        refused.push_back(type);
    }
    if (!refused.empty())
      return signalPassFailure();
    for (auto node : step->getBody().getOps<onnx::NodeOp>())
      node.setOpset(kEmittedOpset);
  }
};
} // namespace
