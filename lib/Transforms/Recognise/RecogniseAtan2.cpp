//===- RecogniseAtan2.cpp - an arctangent in all quadrants to Atan2 -------===//

#include "Patterns.h"

#include "dialects/Onnx/Operators.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISEATAN2
#include "include/zero/Transforms/Recognise/Passes.h.inc"

/// Whether `value` compares `x` with zero by `comparison`.
static bool comparesWithZero(Value value, onnx::Operator comparison, Value x) {
  onnx::NodeOp node = nodeOf(value, comparison);
  return node && node.getInputs()[0] == x && numberOf(node.getInputs()[1]) == 0;
}

/// Whether `value` is `angle`, moved by half a turn by `sum`, an Add or a Sub.
static bool isTurned(Value value, onnx::Operator sum, Value angle) {
  onnx::NodeOp node = nodeOf(value, sum);
  if (!node || node.getInputs()[0] != angle)
    return false;
  std::optional<double> turn = numberOf(node.getInputs()[1]);
  return turn && isNumber(*turn, llvm::numbers::pi);
}

/// Where(x < 0, Where(y > 0, a + pi, a - pi), a), with a = Atan(y / x).
static void recognise(onnx::NodeOp atan) {
  Value angle = atan.getResult(0);
  onnx::NodeOp quotient = nodeOf(atan.getInputs()[0], op::Div);
  if (!quotient)
    return;
  Value y = quotient.getInputs()[0], x = quotient.getInputs()[1];
  for (OpOperand &use : llvm::make_early_inc_range(angle.getUses())) {
    auto root = dyn_cast<onnx::NodeOp>(use.getOwner());
    if (!root || !root.is(op::Where) || use.getOperandNumber() != 2 ||
        root.getResult(0).getType() != angle.getType() ||
        !comparesWithZero(root.getInputs()[0], op::Less, x))
      continue;
    onnx::NodeOp left = nodeOf(root.getInputs()[1], op::Where);
    if (left && comparesWithZero(left.getInputs()[0], op::Greater, y) &&
        isTurned(left.getInputs()[1], op::Add, angle) &&
        isTurned(left.getInputs()[2], op::Sub, angle))
      remarkFound(replaceRoot(root, own::Atan2, {y, x}, {}, 1), "arctangent of two operands");
  }
}

namespace {
struct RecogniseAtan2 : impl::RecogniseAtan2Base<RecogniseAtan2> {
  void runOnOperation() override { forEachNode(getOperation(), op::Atan, recognise); }
};
} // namespace

} // namespace zero
