//===- LinalgFunctions.cpp - functions of math that ONNX lacks ------------===//
//
// Where any operator may be used, a function that cancels or divides by zero in terms of ONNX's
// operators is one of the domain zero, whose gradient is the derivative of the function.
//
//===----------------------------------------------------------------------===//

#include "zero/Programs/Linalg/ScalarNodes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero {

/// The angle of (x, y): the arctangent of the quotient, moved by half a turn where x is negative.
Value ScalarNodes::angle(Value y, Value x) {
  constexpr double pi = llvm::numbers::pi;
  auto number = [&](double value) { return nodes.scalar(value, x.getType()); };
  auto signedAngle = [&](double angle) {
    return nodes.where(nodes.binary(op::Less, y, number(0)), number(-angle), number(angle));
  };
  Value acute = nodes.unary(op::Atan, nodes.div(y, x));
  Value isLeft = nodes.binary(op::Less, x, number(0));
  Value turned = nodes.where(isLeft, nodes.add(acute, signedAngle(pi)), acute);
  Value isLevel = nodes.binary(op::Equal, y, number(0));
  Value upright = nodes.where(isLevel, number(0), signedAngle(pi / 2));
  return nodes.where(nodes.binary(op::Equal, x, number(0)), upright, turned);
}

Value ScalarNodes::function(Operation *op, ValueRange x) {
  auto number = [&](double value) { return nodes.scalar(value, x[0].getType()); };
  auto times = [&](Value value, double factor) { return nodes.mul(value, number(factor)); };
  auto unary = [&](onnx::Operator type) { return nodes.unary(type, x[0]); };
  bool isExact = form == Form::Exact;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::RsqrtOp) { return nodes.unary(op::Reciprocal, unary(op::Sqrt)); })
      .Case([&](math::Log1pOp) {
        return isExact ? unary(own::Log1p) : nodes.unary(op::Log, nodes.add(x[0], number(1)));
      })
      .Case([&](math::ExpM1Op) {
        return isExact ? unary(own::Expm1) : nodes.sub(unary(op::Exp), number(1));
      })
      .Case([&](math::Exp2Op) { return nodes.unary(op::Exp, times(x[0], llvm::numbers::ln2)); })
      .Case([&](math::Log2Op) {
        return isExact ? unary(own::Log2) : times(unary(op::Log), llvm::numbers::log2e);
      })
      .Case([&](math::Log10Op) { return times(unary(op::Log), llvm::numbers::log10e); })
      .Case([&](math::CbrtOp) {
        if (isExact)
          return unary(own::Cbrt);
        Value size = nodes.binary(op::Pow, unary(op::Abs), number(1.0 / 3));
        return nodes.mul(unary(op::Sign), size);
      })
      .Case([&](math::ErfcOp) {
        return isExact ? unary(own::Erfc) : nodes.sub(number(1), unary(op::Erf));
      })
      .Case([&](math::Atan2Op) {
        return isExact ? nodes.binary(own::Atan2, x[0], x[1]) : angle(x[0], x[1]);
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace zero
