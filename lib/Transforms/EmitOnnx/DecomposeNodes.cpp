//===- DecomposeNodes.cpp - write a step in plain ONNX operators ----------===//

#include "zero/Analysis/FunctionalStep.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/EmitOnnx/Passes.h"
#include "zero/Transforms/Program/WritePlainly.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_DECOMPOSENODES
#include "include/zero/Transforms/EmitOnnx/Passes.h.inc"
} // namespace zero

using namespace zero;

/// What replaces the results of `node`: nothing if it stays.
static FailureOr<SmallVector<Value>> plainResults(onnx::NodeOp node, std::string &lacking) {
  if (!isPlain(node))
    return writePlainly(node, PlainUse::Emit, lacking);
  OpBuilder builder(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  SmallVector<Value> results;
  if (failed(writeByRule(node, nodes, results)))
    return failure();
  return results;
}

static LogicalResult decompose(onnx::NodeOp node) {
  std::string lacking;
  FailureOr<SmallVector<Value>> results = plainResults(node, lacking);
  if (failed(results)) {
    InFlightDiagnostic error =
        node.emitError() << node.describe()
                         << " has no form in plain ONNX operators: expected a model without it";
    if (!lacking.empty())
      error.attachNote(node.getLoc()) << "its lowering needs '" << lacking << "'";
    return error;
  }
  if (results->empty())
    return success();
  for (auto [output, result] : llvm::zip_equal(node.getOutputs(), *results))
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
