//===- AddIntoTables.cpp - accumulate gradients of gathers ----------------===//

#include "dialects/Onnx/OwnOperators.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Shape/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_ADDINTOTABLES
#include "include/zero/Transforms/Shape/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The gradient of a gather among the two summands of `sum`, if no other op reads the summands and
/// the other one is computed before it; null otherwise.
static onnx::NodeOp tableOf(onnx::NodeOp sum, Value &start) {
  for (unsigned side : {0u, 1u}) {
    Value table = sum.getInputs()[side];
    start = sum.getInputs()[1 - side];
    auto gather = table.getDefiningOp<onnx::NodeOp>();
    auto producer = start.getDefiningOp<onnx::NodeOp>();
    if (gather && gather.is(own::GatherGrad) && !gather.hasInput(2) && producer &&
        table.hasOneUse() && start.hasOneUse() && start.getType() == table.getType() &&
        producer->isBeforeInBlock(gather))
      return gather;
  }
  return {};
}

namespace {
struct AddIntoTables : zero::impl::AddIntoTablesBase<AddIntoTables> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (auto sum : llvm::make_early_inc_range(step->getBody().getOps<onnx::NodeOp>())) {
      Value start;
      onnx::NodeOp gather =
          ops::computes(sum, ops::Function::Add) ? tableOf(sum, start) : onnx::NodeOp();
      if (!gather)
        continue;
      if (gather.getInputs().size() > 2) // operand 2 is none
        gather->setOperand(2, start);
      else
        gather->insertOperands(2, start);
      sum.getOutputs()[0].replaceAllUsesWith(gather.getOutputs()[0]);
      sum.erase();
    }
  }
};
} // namespace
