//===- Bitwise.cpp - logic on the bits of integers ------------------------===//
//
// ONNX BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, BitShift, BitCast. They have no gradient:
// what depends on the bits of a float has no derivative that means anything.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "zero/Evaluate/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {

using ScalarFn = Value (*)(ImplicitLocOpBuilder &, onnx::NodeOp, ValueRange);

template <ScalarFn scalar>
static LogicalResult lowerBits(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) { return scalar(inner, node, x); };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

template <typename Op>
static Value connect(ImplicitLocOpBuilder &b, onnx::NodeOp, ValueRange x) {
  return Op::create(b, x[0], x[1]);
}

static Value invert(ImplicitLocOpBuilder &b, onnx::NodeOp, ValueRange x) {
  return arith::XOrIOp::create(b, x[0], constant(b, x[0].getType(), -1));
}

/// A shift by more than the width gives the limit: the sign for a right shift, else 0.
static Value shift(ImplicitLocOpBuilder &b, onnx::NodeOp node, ValueRange x) {
  Type type = x[0].getType();
  int64_t width = type.getIntOrFloatBitWidth();
  bool toLeft = node.getString("direction", "") == "LEFT";
  bool keepsSign = !toLeft && !isUnsigned(node, 0);
  Value inside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x[1], constant(b, type, double(width)));
  Value distance = arith::SelectOp::create(b, inside, x[1], constant(b, type, double(width - 1)));
  if (keepsSign)
    return arith::ShRSIOp::create(b, x[0], distance);
  Value moved = toLeft ? arith::ShLIOp::create(b, x[0], distance).getResult()
                       : arith::ShRUIOp::create(b, x[0], distance).getResult();
  return arith::SelectOp::create(b, inside, moved, constant(b, type, 0));
}

static LogicalResult lowerBitCast(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  Type to = node.outputType(0).getElementType();
  Type from = node.inputType(0).getElementType();
  if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth() || from.isInteger(1) ||
      to.isInteger(1))
    return node.emitError() << "expected element types of equal width in " << node.describe()
                            << ", got " << from << " and " << to;
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) -> Value {
    return x[0].getType() == to ? x[0] : arith::BitcastOp::create(inner, to, x[0]).getResult();
  };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

/// As the lowering: what is shifted further than the width is the sign or 0.
static int64_t evaluateShift(evaluate::Element &e) {
  const evaluate::Wide a = e.asWide(0), distance = std::min<evaluate::Wide>(
                                            evaluate::toWide({e.from.width, true}, e.x[1]), 64);
  return evaluate::elementOfBits(e.to, uint64_t(e.setting ? a << distance : a >> distance));
}

static void add(onnx::Operator type, int64_t first, LowerFn lower,
                evaluate::Evaluator evaluator = {}) {
  registerAnySign(
      OpDef{type, first, kNewestOpset, Kind::Elementwise, lower}.evaluatedBy(evaluator));
}

void registerBitwise() {
  using namespace evaluate;
  add(op::BitwiseAnd, 18, lowerBits<connect<arith::AndIOp>>,
      ofIntegers<[](Wide a, Wide b) { return a & b; }>());
  add(op::BitwiseOr, 18, lowerBits<connect<arith::OrIOp>>,
      ofIntegers<[](Wide a, Wide b) { return a | b; }>());
  add(op::BitwiseXor, 18, lowerBits<connect<arith::XOrIOp>>,
      ofIntegers<[](Wide a, Wide b) { return a ^ b; }>());
  add(op::BitwiseNot, 18, lowerBits<invert>, ofIntegers<[](Wide a) { return ~a; }>());
  add(op::BitShift, 11, lowerBits<shift>,
      {.element = evaluateShift,
       .setting =
           [](const Node &node) { return int64_t(node.attribute("direction")->text == "LEFT"); },
       .floats = false});
  add(op::BitCast, 26, lowerBitCast,
      {.element = [](Element &e) { return elementOfBits(e.to, uint64_t(e.x[0])); }});
}

} // namespace zero::ops
