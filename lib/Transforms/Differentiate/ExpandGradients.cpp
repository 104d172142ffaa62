//===- ExpandGradients.cpp - replace Gradient nodes by backward passes ----===//

#include "Activation.h"

#include "dialects/Onnx/OwnOperators.h"
#include "zero/Analysis/StepFunction.h"
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
  SmallVector<Operation *> cloneAt(ArrayRef<Operation *> ops, Operands &operands);
  LogicalResult differentiate(ArrayRef<Operation *> ops, Operands &operands);

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

/// Where the gradient is wanted at other values than those of the named tensors: copies of `ops`
/// that compute y from these values.
SmallVector<Operation *> GradientExpander::cloneAt(ArrayRef<Operation *> ops, Operands &operands) {
  if (operands.values == operands.named)
    return llvm::to_vector(ops);
  IRMapping mapping;
  mapping.map(operands.named, operands.values);
  SmallVector<Operation *> copies;
  for (Operation *original : ops)
    if (original->getNumOperands() > 0)
      copies.push_back(builder.clone(*original, mapping));
  operands.named = operands.values;
  operands.target = mapping.lookupOrDefault(operands.target);
  return copies;
}

/// Replaces the node by the gradient of the sum of y's elements.
LogicalResult GradientExpander::differentiate(ArrayRef<Operation *> ops, Operands &operands) {
  ReverseMode reverse(builder);
  llvm::DenseSet<Value> fixed(operands.named.begin(), operands.named.end());
  for (Value wanted : operands.named.take_front(operands.numWanted))
    reverse.activate(wanted);
  SmallVector<Operation *> between;
  for (Operation *op : ops)
    if (llvm::none_of(op->getResults(), [&](Value made) { return fixed.contains(made); }))
      between.push_back(op);
  SmallVector<Operation *> visited = activate(between, reverse, operands.target);
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
  // What computes the named tensors is not differentiated: they are independent variables.
  SmallVector<Operation *> between =
      opsBetween(*node->getBlock(), operands->named, operands->target);
  return differentiate(cloneAt(between, *operands), *operands);
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
