//===- Binary.cpp - elementwise operators of two operands -----------------===//
//
// ONNX Add, Sub, Mul, Div, Mod: NumPy broadcasting; integer division truncates,
// Mod takes the divisor's sign unless fmod = 1, which is C's remainder.
//
// Gradients, with reduceTo() over what was broadcast (Griewank and Walther,
// Evaluating Derivatives, table of elementals):
//   a + b: dy, dy      a - b: dy, -dy      a b: dy b, dy a
//   y = a / b: dy / b, -(dy / b) y      y = a mod b = a - q b: dy, -dy q
//
// ONNX Runtime: DivGrad(dy, a, b) -> (da, db); Scale(x, s), with one s of any type: x s, or x / s
// with scale_down = 1.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "zero/Evaluate/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

using ScalarFn = Value (*)(ImplicitLocOpBuilder &, onnx::NodeOp, ValueRange);

template <typename FloatOp, typename IntOp>
static Value simple(ImplicitLocOpBuilder &b, onnx::NodeOp, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return FloatOp::create(b, x[0], x[1]);
  return IntOp::create(b, x[0], x[1]);
}

/// Whether `value` equals the integer `number`.
static Value equals(ImplicitLocOpBuilder &b, Value value, int64_t number) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                               constant(b, value.getType(), double(number)));
}

/// `divisor`, or 1 where it is 0: the processor would trap.
static Value nonZero(ImplicitLocOpBuilder &b, Value divisor) {
  Value one = constant(b, divisor.getType(), 1);
  return arith::SelectOp::create(b, equals(b, divisor, 0), one, divisor);
}

/// Truncated division. Dividing by 0 or by -1 can trap in the processor: 0 is
/// replaced by 1, and -1 by a subtraction.
static Value divide(ImplicitLocOpBuilder &b, onnx::NodeOp node, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::DivFOp::create(b, x[0], x[1]);
  if (isUnsigned(node, 0))
    return arith::DivUIOp::create(b, x[0], nonZero(b, x[1]));
  Value negative = equals(b, x[1], -1);
  Value traps = arith::OrIOp::create(b, negative, equals(b, x[1], 0));
  Value divisor = arith::SelectOp::create(b, traps, constant(b, x[1].getType(), 1), x[1]);
  Value quotient = arith::DivSIOp::create(b, x[0], divisor);
  Value negated = arith::SubIOp::create(b, constant(b, x[0].getType(), 0), x[0]);
  return arith::SelectOp::create(b, negative, negated, quotient);
}

template <ScalarFn scalar>
static LogicalResult lowerBinary(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(
      elementwise(b, inputs, node.outputType(0), [&](ImplicitLocOpBuilder &inner, ValueRange x) {
        return scalar(inner, node, x);
      }));
  return success();
}

/// The remainder; `floored`: with the sign of the divisor.
static Value remainder(ImplicitLocOpBuilder &b, ValueRange x, bool floored) {
  Value zero = constant(b, x[0].getType(), 0);
  Value one = constant(b, x[0].getType(), 1);
  Value traps = arith::OrIOp::create(b, equals(b, x[1], -1), equals(b, x[1], 0));
  Value divisor = arith::SelectOp::create(b, traps, one, x[1]);
  Value rest = arith::RemSIOp::create(b, x[0], divisor);
  if (!floored)
    return rest;
  Value isNotZero = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, zero);
  Value mixed = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                      arith::XOrIOp::create(b, rest, divisor), zero);
  Value adjusted = arith::AddIOp::create(b, rest, divisor);
  return arith::SelectOp::create(b, arith::AndIOp::create(b, isNotZero, mixed), adjusted, rest);
}

/// The same for floats: C's fmod, with the divisor added if the signs differ.
static Value floatRemainder(ImplicitLocOpBuilder &b, ValueRange x, bool floored) {
  Value rest = arith::RemFOp::create(b, x[0], x[1]);
  if (!floored)
    return rest;
  Value zero = constant(b, rest.getType(), 0);
  auto isNegative = [&](Value value) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, zero);
  };
  Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, rest, zero);
  Value mixed = arith::XOrIOp::create(b, isNegative(rest), isNegative(x[1]));
  Value moved = arith::SelectOp::create(b, mixed, arith::AddFOp::create(b, rest, x[1]), rest);
  return arith::SelectOp::create(b, isZero, math::CopySignOp::create(b, zero, x[1]), moved);
}

static LogicalResult lowerMod(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                              Lowered &lowered) {
  bool floored = node.getInt("fmod", 0) == 0;
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(
      elementwise(b, inputs, node.outputType(0), [&](ImplicitLocOpBuilder &inner, ValueRange x) {
        if (isUnsigned(node, 0))
          return arith::RemUIOp::create(inner, x[0], nonZero(inner, x[1])).getResult();
        return isFloat(inputs[0]) ? floatRemainder(inner, x, floored)
                                  : remainder(inner, x, floored);
      }));
  return success();
}

//===--- Values -----------------------------------------------------------===//

/// By 0, all ones.
static constexpr struct Quotient {
  double operator()(double a, double b) const { return a / b; }
  evaluate::Wide operator()(evaluate::Wide a, evaluate::Wide b) const {
    return b == 0 ? evaluate::kUndefined - 1 : a / b;
  }
} kQuotient;

/// By 0, the dividend.
static int64_t evaluateMod(evaluate::Element &e) {
  const evaluate::Wide a = e.asWide(0), b = e.asWide(1);
  evaluate::Wide rest = b == 0 ? a + evaluate::kUndefined : a % b;
  if (b != 0 && rest != 0 && (rest < 0) != (b < 0) && e.setting == 0)
    rest += b;
  return e.result(rest);
}

//===--- Gradients --------------------------------------------------------===//

/// Writes `grad`, reduced to its shape, as the gradient of operand `index`.
static void give(onnx::NodeOp node, NodeBuilder &builder, unsigned index, Value grad,
                 MutableArrayRef<Value> inputGrads) {
  inputGrads[index] = builder.reduceTo(grad, node.inputType(index));
}

static LogicalResult addGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  for (unsigned index : {0u, 1u})
    if (wanted[index])
      give(node, builder, index, dy[0], grads);
  return success();
}

static LogicalResult subGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    give(node, builder, 0, dy[0], grads);
  // Negated after the reduction, which makes it small.
  if (wanted[1])
    grads[1] = builder.neg(builder.reduceTo(dy[0], node.inputType(1)));
  return success();
}

static LogicalResult mulGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  for (unsigned index : {0u, 1u})
    if (wanted[index])
      give(node, builder, index, builder.mul(dy[0], node.getInputs()[1 - index]), grads);
  return success();
}

/// The gradient of the divisor, of `type`, from that of the dividend before its reduction, and y.
static Value divisorGradient(NodeBuilder &builder, Value quotient, Value y, RankedTensorType type) {
  return builder.neg(builder.reduceTo(builder.mul(quotient, y), type));
}

static LogicalResult divGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value quotient = builder.div(dy[0], node.getInputs()[1]);
  if (wanted[0])
    give(node, builder, 0, quotient, grads);
  if (wanted[1])
    grads[1] = divisorGradient(builder, quotient, node.getOutputs()[0], node.inputType(1));
  return success();
}

static LogicalResult expandDivGrad(onnx::NodeOp node, NodeBuilder &builder,
                                   SmallVectorImpl<Value> &results) {
  Value a = node.getInputs()[1], b = node.getInputs()[2];
  Value quotient = builder.div(node.getInputs()[0], b);
  addResults(node,
             {builder.reduceTo(quotient, node.inputType(1)),
              divisorGradient(builder, quotient, builder.div(a, b), node.inputType(2))},
             builder, results);
  return success();
}

static LogicalResult expandScale(onnx::NodeOp node, NodeBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.inputType(0);
  Value x = node.getInputs()[0], scale = node.getInputs()[1];
  if (std::optional<double> number = splatNumber(scale))
    scale = builder.scalar(*number, type);
  else
    scale = builder.cast(builder.reshape(scale, {}), type.getElementType());
  results.push_back(node.getInt("scale_down", 0) ? builder.div(x, scale) : builder.mul(x, scale));
  return success();
}

/// y = a - q b with an integer q, so the gradient is constant almost everywhere.
static LogicalResult modGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    give(node, builder, 0, dy[0], grads);
  if (wanted[1]) {
    Value whole = builder.sub(node.getInputs()[0], node.getOutputs()[0]);
    Value quotient = builder.unary(op::Round, builder.div(whole, node.getInputs()[1]));
    grads[1] = builder.neg(builder.reduceTo(builder.mul(dy[0], quotient), node.inputType(1)));
  }
  return success();
}

void registerBinary() {
  using namespace evaluate;
  constexpr auto add = lowerBinary<simple<arith::AddFOp, arith::AddIOp>>;
  constexpr auto sub = lowerBinary<simple<arith::SubFOp, arith::SubIOp>>;
  constexpr auto mul = lowerBinary<simple<arith::MulFOp, arith::MulIOp>>;
  auto define = [](onnx::Operator type, int64_t first, LowerFn lower, GradientFn gradient,
                   evaluate::Evaluator evaluator, Function function, Linear linear,
                   bool roundsIntegers = false) {
    registerAnySign(OpDef{type, first, kNewestOpset, Kind::Elementwise, lower, gradient}
                        .linearly(linear, roundsIntegers)
                        .computing(function)
                        .evaluatedBy(evaluator));
  };
  define(op::Add, 7, add, addGradient, ofNumbers<kSum>(), Function::Add, Linear::Together);
  define(op::Sub, 7, sub, subGradient, ofNumbers<kDifference>(), Function::Sub, Linear::Together);
  define(op::Mul, 7, mul, mulGradient, ofNumbers<kProduct>(), Function::Mul, Linear::InEach);
  define(op::Div, 7, lowerBinary<divide>, divGradient, ofNumbers<kQuotient>(), Function::Div,
         Linear::Quotient, /*roundsIntegers=*/true);
  define(op::Mod, 10, lowerMod, modGradient,
         {.element = evaluateMod,
          .setting = [](const Node &node) { return node.getInt("fmod", 0); },
          .floats = false},
         Function::None, Linear::No);
  registerRuntimeOp("DivGrad", expandDivGrad);
  registerRuntimeOp("Scale", expandScale);
}

} // namespace zero::ops
