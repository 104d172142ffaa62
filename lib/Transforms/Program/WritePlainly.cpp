//===- WritePlainly.cpp - a node as other nodes ---------------------------===//

#include "zero/Transforms/Program/WritePlainly.h"
#include "dialects/Onnx/OwnOperators.h"

#include "zero/Analysis/FunctionalStep.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/CallAttrs.h"
#include "zero/Programs/Linalg/LinalgNodes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {

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

static void erase(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    op->dropAllUses();
    op->erase();
  }
}

/// One value for each result of `node`, which `lowered` computes; fails at an op without a node.
static LogicalResult translate(onnx::NodeOp node, ValueRange lowered, LinalgNodes &kernel,
                               SmallVectorImpl<Value> &results) {
  for (auto [inside, output] : llvm::zip_equal(lowered, node.getOutputs())) {
    bool isUsed =
        !isa<NoneType>(output.getType()) && (node->getNumResults() == 1 || !output.use_empty());
    results.push_back(isUsed ? kernel.translate(inside) : Value());
    if (isUsed && !results.back())
      return failure();
  }
  return success();
}

/// Writes `node` as its lowering computes it.
static LogicalResult fromLowering(onnx::NodeOp node, PlainUse use, NodeBuilder &nodes,
                                  std::string &lacking, SmallVectorImpl<Value> &results) {
  const ops::OpDef *def = ops::lookup(node);
  if (!def || !def->lower || hasUnsigned(node))
    return failure();
  SmallVector<Value> inputs;
  for (Value input : node.getInputs())
    inputs.push_back(isa<NoneType>(input.getType()) ? Value() : input);
  Operation *before = node->getPrevNode();
  ops::Lowered lowered;
  if (failed(ops::lower(node, inputs, nodes.getBuilder(), lowered)))
    return failure();
  SmallVector<Operation *> loops = opsBetween(before, node);
  if (use == PlainUse::Differentiate && !lowered.checks.empty()) {
    erase(loops);
    return failure();
  }
  LinalgNodes kernel(nodes, Form::Onnx);
  for (Value input : inputs)
    if (input)
      kernel.bind(input, input);
  LogicalResult written = translate(node, lowered.results, kernel, results);
  if (failed(written)) {
    if (Operation *op = kernel.culprit())
      lacking = op->getName().getStringRef();
    loops = opsBetween(before, node);
  }
  erase(loops);
  return written;
}

bool isPlain(onnx::NodeOp node) {
  const ops::OpDef *def = ops::lookup(node);
  return node.getDomain().empty() && !(def && def->minOpset > kEmittedOpset);
}

/// Attributes that only gradients and checks read.
static constexpr llvm::StringLiteral kCallAttrs[] = {ops::kPaddingIndex, ops::kLeastIndex,
                                                     ops::kFirstOfEqual, ops::kSlopeAtZero};

/// A node without attributes that ONNX does not have.
static Value withoutCallAttrs(onnx::NodeOp node, NodeBuilder &nodes) {
  NamedAttrList attrs(node.getAttrs());
  for (StringRef name : kCallAttrs)
    attrs.erase(name);
  return nodes.create(node.getOperator(), node.getResultTypes(), node.getInputs(), attrs.getAttrs())
      .getResult(0);
}

LogicalResult writeByRule(onnx::NodeOp node, NodeBuilder &nodes, SmallVectorImpl<Value> &results) {
  const ops::OpDef *def = ops::lookup(node);
  if (def && def->plain && failed(def->plain(node, nodes, results)))
    return failure();
  if (!results.empty() || !node.getDomain().empty())
    return success();
  if (llvm::any_of(kCallAttrs, [&](StringRef name) { return node.getAttrs().contains(name); }))
    results.push_back(withoutCallAttrs(node, nodes));
  return success();
}

FailureOr<SmallVector<Value>> writePlainly(onnx::NodeOp node, PlainUse use, std::string &lacking) {
  if (use == PlainUse::Differentiate && node.is(own::FirstGradient))
    return failure();
  OpBuilder builder(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  SmallVector<Value> results;
  if (failed(writeByRule(node, nodes, results)))
    return failure();
  // Attention that is not one kernel: products and softmax, whose gradients have rules.
  if (use == PlainUse::Differentiate && node.is(own::AttentionGrad))
    llvm::append_range(results, expandAttentionGrad(nodes, node));
  if (results.empty() && failed(fromLowering(node, use, nodes, lacking, results)))
    return failure();
  return results;
}

} // namespace zero
