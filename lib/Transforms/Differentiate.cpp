//===- Differentiate.cpp - reverse mode over the op table -----------------===//

#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Passes.h"
#include "zero/Analysis/StepFunction.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// One reverse walk over a step function.
class Backward {
public:
  explicit Backward(func::FuncOp step) : step(step), builder(step.getBody().front().getTerminator()) {}

  LogicalResult run();

private:
  void findActive(const llvm::DenseSet<StringAttr> &trained);
  LogicalResult visit(onnx::NodeOp node);
  void accumulate(Value value, Value gradient, NodeBuilder &nodes);
  LogicalResult emitGradients(ArrayRef<ParameterOp> parameters);

  func::FuncOp step;
  OpBuilder builder;
  llvm::DenseSet<Value> active;
  llvm::DenseMap<Value, Value> gradients;
  /// The read of each parameter; import makes one for each.
  llvm::DenseMap<StringAttr, Value> reads;
};

} // namespace

static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Marks what a trained parameter reaches through differentiable operators.
void Backward::findActive(const llvm::DenseSet<StringAttr> &trained) {
  for (Operation &op : step.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      StringAttr symbol = read.getSymbolAttr().getAttr();
      reads.try_emplace(symbol, read.getResult());
      if (trained.contains(symbol))
        active.insert(read.getResult());
      continue;
    }
    auto node = dyn_cast<onnx::NodeOp>(op);
    if (!node || llvm::none_of(node.getInputs(), [&](Value v) { return active.contains(v); }))
      continue;
    const ops::OpDef *def = ops::lookup(node);
    if (!def || !def->gradient)
      continue;
    for (Value result : node.getOutputs())
      if (isFloat(result))
        active.insert(result);
  }
}

void Backward::accumulate(Value value, Value gradient, NodeBuilder &nodes) {
  Value &sum = gradients[value];
  sum = sum ? nodes.add(sum, gradient) : gradient;
}

LogicalResult Backward::visit(onnx::NodeOp node) {
  SmallVector<Value> outputGrads;
  for (Value result : node.getOutputs())
    outputGrads.push_back(active.contains(result) ? gradients.lookup(result) : Value());
  if (llvm::none_of(outputGrads, [](Value v) { return bool(v); }))
    return success();

  SmallVector<bool> wanted;
  for (Value input : node.getInputs())
    wanted.push_back(active.contains(input));
  SmallVector<Value> inputGrads(wanted.size());
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  if (failed(ops::lookup(node)->gradient(node, outputGrads, wanted, nodes, inputGrads)))
    return failure();

  for (auto [input, isWanted, gradient] : llvm::zip_equal(node.getInputs(), wanted, inputGrads)) {
    if (!isWanted || !gradient)
      continue;
    if (gradient.getType() != input.getType())
      return node.emitError() << "the gradient rule of " << node.getOpType() << " gives "
                              << gradient.getType() << " for an operand of type "
                              << input.getType();
    accumulate(input, gradient, nodes);
  }
  return success();
}

LogicalResult Backward::emitGradients(ArrayRef<ParameterOp> parameters) {
  for (ParameterOp parameter : parameters) {
    Value read = reads.lookup(parameter.getSymNameAttr());
    Value gradient = read ? gradients.lookup(read) : Value();
    if (!gradient)
      return parameter.emitError() << "parameter '" << parameter.getSymName()
                                   << "' is to be trained but does not reach the loss; freeze it "
                                      "or leave it out of --trainable";
    GradientOp::create(builder, parameter.getLoc(), gradient.getType(),
                       FlatSymbolRefAttr::get(parameter.getSymNameAttr()), gradient);
  }
  return success();
}

LogicalResult Backward::run() {
  SmallVector<ParameterOp> parameters;
  llvm::DenseSet<StringAttr> trained;
  for (auto parameter : step->getParentOfType<ModuleOp>().getOps<ParameterOp>())
    if (!parameter.getFrozen()) {
      parameters.push_back(parameter);
      trained.insert(parameter.getSymNameAttr());
    }
  if (parameters.empty())
    return step.emitError("nothing to train: the model has no trainable parameter");
  findActive(trained);

  FailureOr<Value> loss = findLoss(step);
  if (failed(loss))
    return failure();
  if (!active.contains(*loss))
    return step.emitError("the loss does not depend on any trained parameter");

  SmallVector<onnx::NodeOp> nodes(step.getBody().front().getOps<onnx::NodeOp>());
  gradients[*loss] = RankShareOp::create(builder, step.getLoc(), loss->getType());
  for (onnx::NodeOp node : llvm::reverse(nodes))
    if (failed(visit(node)))
      return failure();
  return emitGradients(parameters);
}

namespace {
struct Differentiate : zero::impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    // A graph that already trains comes with its own gradients.
    if (!step->getBody().getOps<GradientOp>().empty() || !step->getBody().getOps<UpdateOp>().empty())
      return;
    if (failed(Backward(*step).run()))
      signalPassFailure();
  }
};
} // namespace
