//===- TestGradient.cpp - gradients of single nodes, for tests ------------===//

#include "test/lib/Passes.h"
#include "zero/Ops/Reverse.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_TESTGRADIENT
#include "test/lib/Passes.h.inc"

namespace {
struct TestGradient : impl::TestGradientBase<TestGradient> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    Operation *exit = func.getBody().front().getTerminator();
    OpBuilder builder(exit);
    ReverseMode reverse(builder);
    SmallVector<BlockArgument> inputs(func.getArguments());
    for (BlockArgument input : inputs)
      if (isFloat(input))
        reverse.activate(input);
    SmallVector<Operation *> nodes;
    for (onnx::NodeOp node : func.getOps<onnx::NodeOp>()) {
      reverse.propagate(node);
      nodes.push_back(node);
    }
    for (Value result : SmallVector<Value>(exit->getOperands()))
      if (isFloat(result))
        reverse.accumulate(result, seed(result));
    if (failed(reverse.run(nodes)))
      return signalPassFailure();
    for (BlockArgument input : inputs)
      if (Value grad = reverse.gradientOf(input))
        exit->insertOperands(exit->getNumOperands(), grad);
    func.setType(
        builder.getFunctionType(func.getBody().getArgumentTypes(), exit->getOperandTypes()));
  }

  static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

  /// Adds an argument: the gradient of `result`.
  Value seed(Value result) {
    func::FuncOp func = getOperation();
    return func.getBody().addArgument(result.getType(), result.getLoc());
  }
};
} // namespace

} // namespace zero
