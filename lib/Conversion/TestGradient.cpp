//===- TestGradient.cpp - gradients of single nodes, for tests ------------===//

#include "zero/Conversion/Passes.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_TESTGRADIENT
#include "include/zero/Conversion/Passes.h.inc"

namespace {
/// Reverse mode over one straight-line function.
struct Reverse {
  explicit Reverse(OpBuilder &builder) : builder(builder) {}

  void accumulate(Value value, Value grad) {
    Value &sum = grads[value];
    NodeBuilder nodes(builder, value.getLoc(), "sum");
    sum = sum ? nodes.add(sum, grad) : grad;
  }

  LogicalResult visit(onnx::NodeOp node) {
    SmallVector<Value> outputGrads;
    for (Value output : node.getOutputs())
      outputGrads.push_back(grads.lookup(output));
    const ops::OpDef *def = ops::lookup(node);
    if (!def || !def->gradient || llvm::none_of(outputGrads, [](Value grad) { return grad; }))
      return success();
    SmallVector<bool> wanted;
    for (Value input : node.getInputs())
      wanted.push_back(isa<FloatType>(getElementTypeOrSelf(input.getType())) &&
                       !input.getDefiningOp<arith::ConstantOp>());
    SmallVector<Value> inputGrads(wanted.size());
    NodeBuilder nodes(builder, node.getLoc(), node.getNode());
    if (failed(def->gradient(node, outputGrads, wanted, nodes, inputGrads)))
      return failure();
    for (auto [input, grad] : llvm::zip(node.getInputs(), inputGrads))
      if (grad)
        accumulate(input, grad);
    return success();
  }

  OpBuilder &builder;
  DenseMap<Value, Value> grads;
};

struct TestGradient : impl::TestGradientBase<TestGradient> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    Operation *exit = func.getBody().front().getTerminator();
    OpBuilder builder(exit);
    Reverse reverse(builder);
    SmallVector<BlockArgument> inputs(func.getArguments());
    for (Value result : SmallVector<Value>(exit->getOperands()))
      if (isa<FloatType>(getElementTypeOrSelf(result.getType())))
        reverse.accumulate(result, seed(result));
    SmallVector<onnx::NodeOp> nodes(func.getOps<onnx::NodeOp>());
    for (onnx::NodeOp node : llvm::reverse(nodes))
      if (failed(reverse.visit(node)))
        return signalPassFailure();
    for (BlockArgument input : inputs)
      if (Value grad = reverse.grads.lookup(input))
        exit->insertOperands(exit->getNumOperands(), grad);
    func.setType(
        builder.getFunctionType(func.getBody().getArgumentTypes(), exit->getOperandTypes()));
  }

  /// A new argument: the gradient of `result`.
  Value seed(Value result) {
    func::FuncOp func = getOperation();
    return func.getBody().addArgument(result.getType(), result.getLoc());
  }
};
} // namespace

} // namespace zero
