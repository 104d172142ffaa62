//===- VerifyEvaluation.cpp - verify that evaluations leave state alone ---===//

#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/EvaluationAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Function.h"
#include "zero/Transforms/Step/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYEVALUATION
#include "include/zero/Transforms/Step/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Whether `value` is the scalar that says whether the step trains.
static bool isTraining(func::FuncOp step, Value value) {
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  return argument && argumentBinding(step, argument.getArgNumber()) == kTraining;
}

/// The operands of `op` that its results depend on in an evaluation.
static SmallVector<Value> evaluatedOperands(func::FuncOp step, Operation *op) {
  auto node = dyn_cast<onnx::NodeOp>(op);
  if (ops::computes(node, ops::Function::Select) && isTraining(step, node.getInputs()[0]))
    return {node.getInputs()[2]};
  auto launch = dyn_cast<LaunchOp>(op);
  if (launch && launch->hasAttr(kCarriesAttr) && isTraining(step, launch.getCondition()))
    return {launch.getInputs()[0]};
  return SmallVector<Value>(op->getOperands());
}

/// Why an evaluation must not depend on `op`; empty if it may.
static StringRef whyNot(func::FuncOp step, Operation *op) {
  if (auto node = dyn_cast<onnx::NodeOp>(op); node && node.is(own::BatchMoments))
    return "the statistics of its own batch";
  if (op->hasAttr(kCarriesAttr) && !isTraining(step, cast<LaunchOp>(op).getCondition()))
    return "a state that it has updated itself";
  return {};
}

namespace {
struct VerifyEvaluation : zero::impl::VerifyEvaluationBase<VerifyEvaluation> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    llvm::SetVector<Operation *> evaluated;
    auto add = [&](Value value) {
      if (Operation *producer = value.getDefiningOp())
        evaluated.insert(producer);
    };
    Operation *terminator = step->getBody().front().getTerminator();
    for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
      if (resultBinding(*step, index).ends_with("loss"))
        add(value);
    for (size_t i = 0; i < evaluated.size(); ++i) {
      if (StringRef why = whyNot(*step, evaluated[i]); !why.empty()) {
        evaluated[i]->emitError() << "an evaluation would read " << why;
        return signalPassFailure();
      }
      for (Value operand : evaluatedOperands(*step, evaluated[i]))
        add(operand);
    }
  }
};
} // namespace
