//===- FoldGuards.cpp - drop guards that results have, too ----------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_FOLDGUARDS
#include "include/zero/Transforms/Program/Passes.h.inc"

/// `value` before nodes that only change its shape or copy its only element.
static Value scalarSource(Value value) {
  while (auto node = value.getDefiningOp<onnx::NodeOp>()) {
    if (!ops::computes(node, ops::Function::Broadcast) && !ops::isView(node))
      break;
    value = node.getInputs().front();
  }
  return value;
}

/// Whether both are the same value of one element, of any shape.
static bool isSameScalar(Value a, Value b) {
  a = scalarSource(a);
  b = scalarSource(b);
  SplatElementsAttr first, second;
  if (matchPattern(a, m_Constant(&first)) && matchPattern(b, m_Constant(&second)))
    return first.getSplatValue<Attribute>() == second.getSplatValue<Attribute>();
  return a == b && tensorType(a).getNumElements() == 1;
}

/// Whether both are the same condition on values of one element.
static bool isSameCondition(Value a, Value b) {
  a = scalarSource(a);
  b = scalarSource(b);
  auto first = a.getDefiningOp<onnx::NodeOp>(), second = b.getDefiningOp<onnx::NodeOp>();
  if (!first || !second || !ops::computes(first, ops::Function::Compare))
    return a == b && tensorType(a).getNumElements() == 1;
  return first.is(second.getOperator()) &&
         isSameScalar(first.getInputs()[0], second.getInputs()[0]) &&
         isSameScalar(first.getInputs()[1], second.getInputs()[1]);
}

/// The only op that uses `value`; null if there are several.
static Operation *soleReader(Value value) {
  Operation *reader = nullptr;
  for (Operation *user : value.getUsers()) {
    if (reader && reader != user)
      return nullptr;
    reader = user;
  }
  return reader;
}

/// Whether all that `guard` leads to is operand `side` of a Where of the same condition.
static bool hasOuterGuard(onnx::NodeOp guard, unsigned side) {
  constexpr unsigned kMostNodes = 8;
  Value value = guard.getResult(0);
  for (unsigned count = 0; count < kMostNodes; ++count) {
    auto reader = dyn_cast_or_null<onnx::NodeOp>(soleReader(value));
    if (!reader || reader.getNumResults() != 1)
      return false;
    if (ops::computes(reader, ops::Function::Select) &&
        isSameCondition(reader.getInputs()[0], guard.getInputs()[0]))
      return reader.getInputs()[side] == value && reader.getInputs()[3 - side] != value;
    value = reader.getResult(0);
  }
  return false;
}

namespace {
struct FoldGuards : impl::FoldGuardsBase<FoldGuards> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(kWholeStepAttr))
      return;
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    bool changed = false;
    for (auto guard : llvm::make_early_inc_range(step->getBody().getOps<onnx::NodeOp>()))
      for (unsigned side : {1u, 2u})
        if (ops::computes(guard, ops::Function::Select) &&
            guard.getInputs()[side].getType() == guard.getResult(0).getType() &&
            hasOuterGuard(guard, side)) {
          guard.getResult(0).replaceAllUsesWith(guard.getInputs()[side]);
          changed = true;
        }
    if (!changed)
      return;
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(*step);
    eliminateCommonSubExpressions(rewriter, dominance, *step);
  }
};
} // namespace
} // namespace zero
