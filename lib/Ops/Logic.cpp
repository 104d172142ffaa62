//===- Logic.cpp - comparisons and logic ----------------------------------===//
//
// ONNX Equal, Less, Greater, LessOrEqual, GreaterOrEqual, And, Or, Xor, Not,
// IsNaN, IsInf. Results are booleans, so the derivative is zero.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "zero/Evaluate/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

using ScalarFn = Value (*)(ImplicitLocOpBuilder &, onnx::NodeOp, ValueRange);

template <ScalarFn scalar>
static LogicalResult lowerLogic(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) { return scalar(inner, node, x); };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

template <arith::CmpFPredicate floating, arith::CmpIPredicate integer,
          arith::CmpIPredicate withoutSign>
static Value compare(ImplicitLocOpBuilder &b, onnx::NodeOp node, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::CmpFOp::create(b, floating, x[0], x[1]);
  return arith::CmpIOp::create(b, isUnsigned(node, 0) ? withoutSign : integer, x[0], x[1]);
}

template <typename Op>
static Value connect(ImplicitLocOpBuilder &b, onnx::NodeOp, ValueRange x) {
  return Op::create(b, x[0], x[1]);
}

static Value invert(ImplicitLocOpBuilder &b, onnx::NodeOp, ValueRange x) {
  return arith::XOrIOp::create(b, x[0], constant(b, x[0].getType(), 1));
}

static Value isNaN(ImplicitLocOpBuilder &b, onnx::NodeOp, ValueRange x) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x[0], x[0]);
}

static Value isInf(ImplicitLocOpBuilder &b, onnx::NodeOp node, ValueRange x) {
  auto type = cast<FloatType>(x[0].getType());
  Value found = constant(b, b.getI1Type(), 0);
  for (bool negative : {false, true}) {
    if (!node.getInt(negative ? "detect_negative" : "detect_positive", 1))
      continue;
    APFloat infinity = APFloat::getInf(type.getFloatSemantics(), negative);
    Value limit = arith::ConstantOp::create(b, b.getFloatAttr(type, infinity));
    Value hit = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x[0], limit);
    found = arith::OrIOp::create(b, found, hit);
  }
  return found;
}

template <ScalarFn scalar>
static void add(onnx::Operator type, int64_t first, evaluate::Evaluator evaluator = {},
                Function function = Function::None) {
  registerAnySign(OpDef{type, first, kNewestOpset, Kind::Elementwise, lowerLogic<scalar>}
                      .piecewise()
                      .computing(function)
                      .evaluatedBy(evaluator));
}

void registerLogic() {
  using namespace evaluate;
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  add<compare<F::OEQ, I::eq, I::eq>>(
      op::Equal, 7, ofNumbers<[](auto a, auto b) { return a == b; }>(), Function::Compare);
  add<compare<F::OLT, I::slt, I::ult>>(
      op::Less, 7, ofNumbers<[](auto a, auto b) { return a < b; }>(), Function::Compare);
  add<compare<F::OGT, I::sgt, I::ugt>>(
      op::Greater, 7, ofNumbers<[](auto a, auto b) { return a > b; }>(), Function::Compare);
  add<compare<F::OLE, I::sle, I::ule>>(
      op::LessOrEqual, 12, ofNumbers<[](auto a, auto b) { return a <= b; }>(), Function::Compare);
  add<compare<F::OGE, I::sge, I::uge>>(op::GreaterOrEqual, 12,
                                       ofNumbers<[](auto a, auto b) { return a >= b; }>(),
                                       Function::Compare);
  add<connect<arith::AndIOp>>(op::And, 7, ofIntegers<[](Wide a, Wide b) { return a & b; }>());
  add<connect<arith::OrIOp>>(op::Or, 7, ofIntegers<[](Wide a, Wide b) { return a | b; }>());
  add<connect<arith::XOrIOp>>(op::Xor, 7, ofIntegers<[](Wide a, Wide b) { return a ^ b; }>());
  add<invert>(op::Not, 7, ofIntegers<[](Wide a) { return a == 0; }>());
  add<isNaN>(op::IsNaN, 9);
  add<isInf>(op::IsInf, 10);
}

} // namespace zero::ops
