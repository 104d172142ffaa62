//===- RecogniseLogSigmoid.cpp - log(sigmoid(x)) to -softplus(-x) ---------===//

#include "Patterns.h"

#include "dialects/Onnx/Operators.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISELOGSIGMOID
#include "include/zero/Transforms/Recognise/Passes.h.inc"

/// The operand of the Sigmoid that computes `value`; null if none does.
static Value logitOf(Value value) {
  onnx::NodeOp sigmoid = nodeOf(value, op::Sigmoid);
  return sigmoid ? sigmoid.getInputs()[0] : Value();
}

/// x, where `value` is 1 - sigmoid(x) of the same shape.
static Value logitOfComplement(Value value) {
  onnx::NodeOp difference = nodeOf(value, op::Sub);
  if (!difference || numberOf(difference.getInputs()[0]) != 1)
    return {};
  Value x = logitOf(difference.getInputs()[1]);
  return x && x.getType() == value.getType() ? x : Value();
}

static void recognise(onnx::NodeOp log) {
  OpBuilder builder(log);
  NodeBuilder nodes(builder, log.getLoc(), log.getNode());
  Value result = log.getResult(0), negative;
  if (Value x = logitOf(log.getInputs()[0]))
    negative = nodes.neg(x);
  else if (Value complement = logitOfComplement(log.getInputs()[0]))
    negative = complement;
  if (!negative || negative.getType() != result.getType())
    return;
  onnx::NodeOp made = replaceRoot(log, op::Neg, nodes.unary(op::Softplus, negative), {}, 13);
  remarkFound(made, "logarithm of a sigmoid");
}

namespace {
struct RecogniseLogSigmoid : impl::RecogniseLogSigmoidBase<RecogniseLogSigmoid> {
  void runOnOperation() override { forEachNode(getOperation(), op::Log, recognise); }
};
} // namespace

} // namespace zero
