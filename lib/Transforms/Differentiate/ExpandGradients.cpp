//===- ExpandGradients.cpp - replace Gradient nodes by backward passes ----===//

#include "dialects/Onnx/Operators.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Reverse.h"
#include "zero/Transforms/Differentiate/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_EXPANDGRADIENTS
#include "include/zero/Transforms/Differentiate/Passes.h.inc"

namespace {
/// The operands of a Gradient node: the values at which it is computed, the tensors that its
/// attributes name, first those of `xs`, then those of `zs`, and y.
struct Operands {
  ValueRange values, named;
  unsigned numWanted; ///< the first of them are differentiated
  Value target;
};

class GradientExpander {
public:
  explicit GradientExpander(onnx::NodeOp node) : node(node), builder(node) {}

  LogicalResult run();

private:
  FailureOr<Operands> readOperands();
  SmallVector<onnx::NodeOp> nodesBetween(const Operands &operands);
  SmallVector<onnx::NodeOp> cloneAt(ArrayRef<onnx::NodeOp> nodes, Operands &operands);
  LogicalResult differentiate(ArrayRef<onnx::NodeOp> nodes, const Operands &operands);

  onnx::NodeOp node;
  OpBuilder builder;
};
} // namespace

FailureOr<Operands> GradientExpander::readOperands() {
  auto count = [&](StringRef name) -> unsigned {
    auto list = node.getAttrs().getAs<ArrayAttr>(name);
    return list ? list.size() : 0;
  };
  const unsigned wanted = count("xs"), all = wanted + count("zs");
  ValueRange inputs = node.getInputs();
  if (wanted == 0 || inputs.size() != 2 * all + 1 || node.getNumResults() > wanted)
    return node.emitError() << node.describe() << ": expected " << 2 * all + 1
                            << " operands and at most " << wanted << " results for " << wanted
                            << " tensors 'xs' and " << all - wanted << " tensors 'zs', got "
                            << inputs.size() << " and " << node.getNumResults();
  Operands operands{inputs.take_front(all), inputs.slice(all, all), wanted, inputs.back()};
  for (auto [value, named] : llvm::zip_equal(operands.values, operands.named))
    if (value.getType() != named.getType())
      return node.emitError() << node.describe() << ": expected " << named.getType()
                              << " as the value of the tensor of this type, got "
                              << value.getType();
  for (Value result : node.getOutputs())
    if (!isa<NoneType, RankedTensorType>(result.getType()))
      return node.emitError() << node.describe() << ": expected results of static shape";
  return operands;
}

/// The nodes that y depends on behind the named tensors, in order. What computes these is not
/// differentiated: they are independent variables.
SmallVector<onnx::NodeOp> GradientExpander::nodesBetween(const Operands &operands) {
  llvm::DenseSet<Value> ends(operands.named.begin(), operands.named.end());
  llvm::DenseSet<Operation *> needed;
  SmallVector<Value> open{operands.target};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (ends.contains(value) || !op || !needed.insert(op).second)
      continue;
    llvm::append_range(open, op->getOperands());
  }
  SmallVector<onnx::NodeOp> nodes;
  for (auto own : node->getBlock()->getOps<onnx::NodeOp>())
    if (needed.contains(own))
      nodes.push_back(own);
  return nodes;
}

/// Where the gradient is wanted at other values than those of the named tensors: copies of `nodes`
/// that compute y from these values.
SmallVector<onnx::NodeOp> GradientExpander::cloneAt(ArrayRef<onnx::NodeOp> nodes,
                                                    Operands &operands) {
  if (operands.values == operands.named)
    return llvm::to_vector(nodes);
  IRMapping mapping;
  mapping.map(operands.named, operands.values);
  SmallVector<onnx::NodeOp> copies;
  for (onnx::NodeOp original : nodes)
    copies.push_back(cast<onnx::NodeOp>(builder.clone(*original, mapping)));
  operands.named = operands.values;
  operands.target = mapping.lookupOrDefault(operands.target);
  return copies;
}

/// Replaces the node by the gradient of the sum of y's elements.
LogicalResult GradientExpander::differentiate(ArrayRef<onnx::NodeOp> nodes,
                                              const Operands &operands) {
  ReverseMode reverse(builder);
  llvm::DenseSet<Value> fixed(operands.named.begin(), operands.named.end());
  for (Value wanted : operands.named.take_front(operands.numWanted))
    reverse.activate(wanted);
  SmallVector<onnx::NodeOp> visited;
  for (onnx::NodeOp between : nodes) {
    if (llvm::any_of(between->getResults(), [&](Value made) { return fixed.contains(made); }))
      continue;
    reverse.propagate(between);
    visited.push_back(between);
  }
  NodeBuilder nodesAt(builder, node.getLoc(), node.getNode());
  auto target = dyn_cast<RankedTensorType>(operands.target.getType());
  if (!target || !isa<FloatType>(target.getElementType()))
    return node.emitError() << node.describe() << ": expected floats as y, got "
                            << operands.target.getType();
  reverse.accumulate(operands.target, nodesAt.splat(1, target));
  if (failed(reverse.run(visited)))
    return failure();
  for (auto [result, wanted] : llvm::zip(node.getOutputs(), operands.named)) {
    if (result.use_empty())
      continue;
    Value gradient = reverse.isActive(wanted) ? reverse.gradientOf(wanted) : Value();
    auto type = dyn_cast<RankedTensorType>(wanted.getType());
    if (!type || result.getType() != type)
      return node.emitError() << node.describe() << ": expected a gradient of type "
                              << wanted.getType() << ", got " << result.getType();
    result.replaceAllUsesWith(gradient ? gradient : nodesAt.splat(0, type));
  }
  node.erase();
  return success();
}

LogicalResult GradientExpander::run() {
  FailureOr<Operands> operands = readOperands();
  if (failed(operands))
    return failure();
  SmallVector<onnx::NodeOp> nodes = cloneAt(nodesBetween(*operands), *operands);
  return differentiate(nodes, *operands);
}

namespace {
struct ExpandGradients : impl::ExpandGradientsBase<ExpandGradients> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    // In order: a gradient of a gradient differentiates what replaced the first one.
    for (auto node : llvm::make_early_inc_range(step->getBody().front().getOps<onnx::NodeOp>()))
      if (node.is(training::Gradient) && failed(GradientExpander(node).run()))
        return signalPassFailure();
  }
};
} // namespace
} // namespace zero
