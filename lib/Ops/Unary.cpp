//===- Unary.cpp - elementwise operators of one operand -------------------===//
//
// ONNX Relu, Tanh, Sigmoid, Exp, Log, Sqrt, Reciprocal, Neg, Abs, Erf,
// Softplus, LeakyRelu, Elu, HardSigmoid, Floor, Ceil, Sign, Round.
//
// Gradients (Griewank and Walther, Evaluating Derivatives, table of elementals),
// from the result y where that saves work:
//   Relu dy [y > 0]       Tanh dy (1 - y y)     Sigmoid dy y (1 - y)   Exp dy y
//   Log dy / x            Sqrt dy / (2 y)       Reciprocal -dy y y     Abs dy sign x
//   (at zero 0, or {slope_at_zero})
//   Erf dy 2/sqrt(pi) exp(-x x)                 Softplus dy sigmoid(x)
//   LeakyRelu dy or alpha dy                    Elu dy or dy (y + alpha)
//   HardSigmoid dy alpha where 0 < y < 1
//   zero::Log1p(x) dy / (1 + x)                 zero::Expm1(x) dy (y + 1)
// Floor, Ceil, Sign and Round are piecewise constant.
//
// ONNX Runtime: ReluGrad(dy, x or y), TanhGrad, SigmoidGrad and LeakyReluGrad(dy, y) are these
// formulas.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "zero/Evaluate/Elements.h"

#include "zero/Ops/CallAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero::ops {

using ScalarFn = Value (*)(ImplicitLocOpBuilder &, onnx::NodeOp, Value);

template <ScalarFn scalar>
static LogicalResult lowerUnary(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) { return scalar(inner, node, x[0]); };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

/// One op of upstream's dialects.
template <typename Op>
static Value one(ImplicitLocOpBuilder &b, onnx::NodeOp, Value x) {
  return Op::create(b, x);
}

static bool isInteger(Value x) { return isa<IntegerType>(x.getType()); }

/// `x > 0 ? positive : otherwise`.
static Value ifPositive(ImplicitLocOpBuilder &b, Value x, Value positive, Value otherwise) {
  Value zero = constant(b, x.getType(), 0);
  Value test = isInteger(x)
                   ? arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, x, zero).getResult()
                   : arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, zero).getResult();
  return arith::SelectOp::create(b, test, positive, otherwise);
}

static Value relu(ImplicitLocOpBuilder &b, onnx::NodeOp, Value x) {
  Value zero = constant(b, x.getType(), 0);
  if (isInteger(x))
    return arith::MaxSIOp::create(b, x, zero);
  return arith::MaximumFOp::create(b, x, zero);
}

static Value sigmoid(ImplicitLocOpBuilder &b, onnx::NodeOp, Value x) {
  Value unit = constant(b, x.getType(), 1);
  Value decay = math::ExpOp::create(b, arith::NegFOp::create(b, x));
  return arith::DivFOp::create(b, unit, arith::AddFOp::create(b, unit, decay));
}

static Value reciprocal(ImplicitLocOpBuilder &b, onnx::NodeOp, Value x) {
  return arith::DivFOp::create(b, constant(b, x.getType(), 1), x);
}

static Value negate(ImplicitLocOpBuilder &b, onnx::NodeOp, Value x) {
  if (isInteger(x))
    return arith::SubIOp::create(b, constant(b, x.getType(), 0), x);
  return arith::NegFOp::create(b, x);
}

static Value absolute(ImplicitLocOpBuilder &b, onnx::NodeOp, Value x) {
  if (isInteger(x))
    return math::AbsIOp::create(b, x);
  return math::AbsFOp::create(b, x);
}

/// Sign of x; zero, of its sign, where x is that or denormal, which compares as zero in a step, and
/// NaN where x is.
static Value sign(ImplicitLocOpBuilder &b, onnx::NodeOp node, Value x) {
  Value zero = constant(b, x.getType(), 0);
  Value rest = isInteger(x) ? zero : arith::MulFOp::create(b, x, zero).getResult();
  Value negative = ifPositive(b, negate(b, node, x), constant(b, x.getType(), -1), rest);
  return ifPositive(b, x, constant(b, x.getType(), 1), negative);
}

/// max(x, 0) + log(1 + exp(-|x|)): exp never overflows.
static Value softplus(ImplicitLocOpBuilder &b, onnx::NodeOp node, Value x) {
  Value decay = math::ExpOp::create(b, arith::NegFOp::create(b, math::AbsFOp::create(b, x)));
  return arith::AddFOp::create(b, relu(b, node, x), math::Log1pOp::create(b, decay));
}

static Value leakyRelu(ImplicitLocOpBuilder &b, onnx::NodeOp node, Value x) {
  Value alpha = constant(b, x.getType(), node.getFloat("alpha", 0.01));
  return ifPositive(b, x, x, arith::MulFOp::create(b, alpha, x));
}

static Value elu(ImplicitLocOpBuilder &b, onnx::NodeOp node, Value x) {
  Value alpha = constant(b, x.getType(), node.getFloat("alpha", 1));
  return ifPositive(b, x, x, arith::MulFOp::create(b, alpha, math::ExpM1Op::create(b, x)));
}

static Value hardSigmoid(ImplicitLocOpBuilder &b, onnx::NodeOp node, Value x) {
  Value alpha = constant(b, x.getType(), node.getFloat("alpha", 0.2));
  Value beta = constant(b, x.getType(), node.getFloat("beta", 0.5));
  Value line = arith::AddFOp::create(b, arith::MulFOp::create(b, alpha, x), beta);
  Value low = arith::MaximumFOp::create(b, line, constant(b, x.getType(), 0));
  return arith::MinimumFOp::create(b, low, constant(b, x.getType(), 1));
}

namespace {
/// Where a gradient is taken: the operand and the result of an operator, and the node with its
/// attributes.
struct Point {
  onnx::NodeOp node;
  Value x, y;
};
} // namespace

/// The operand's gradient from the point, builder and the result's gradient.
using SlopeFn = Value (*)(Point, NodeBuilder &, Value);

template <SlopeFn slope>
static LogicalResult unaryGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                   NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    grads[0] = slope({node, node.getInputs()[0], node.getOutputs()[0]}, builder, dy[0]);
  return success();
}

/// A gradient operator of ONNX Runtime with operands dy and y. Where the sign decides, it may also
/// be x.
template <SlopeFn slope>
static LogicalResult expandGradient(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  Value at = node.getInputs()[1];
  results.push_back(slope({node, at, at}, builder, node.getInputs()[0]));
  return success();
}

static Value num(NodeBuilder &b, double value, Value like) {
  return b.scalar(value, like.getType());
}

/// `value > 0 ? a : c`.
static Value selectPositive(NodeBuilder &b, Value value, Value a, Value c) {
  return b.where(b.binary(op::Greater, value, num(b, 0, value)), a, c);
}

static Value reluSlope(Point p, NodeBuilder &b, Value dy) {
  return selectPositive(b, p.y, dy, num(b, 0, dy));
}
static Value tanhSlope(Point p, NodeBuilder &b, Value dy) {
  return b.mul(dy, b.sub(num(b, 1, dy), b.mul(p.y, p.y)));
}
static Value sigmoidSlope(Point p, NodeBuilder &b, Value dy) {
  return b.mul(dy, b.mul(p.y, b.sub(num(b, 1, dy), p.y)));
}
static Value expSlope(Point p, NodeBuilder &b, Value dy) { return b.mul(dy, p.y); }
static Value logSlope(Point p, NodeBuilder &b, Value dy) { return b.div(dy, p.x); }
static Value sqrtSlope(Point p, NodeBuilder &b, Value dy) {
  return b.div(b.mul(dy, num(b, 0.5, dy)), p.y);
}
static Value reciprocalSlope(Point p, NodeBuilder &b, Value dy) {
  return b.neg(b.mul(dy, b.mul(p.y, p.y)));
}
static Value negSlope(Point, NodeBuilder &b, Value dy) { return b.neg(dy); }
static Value log1pSlope(Point p, NodeBuilder &b, Value dy) {
  return b.div(dy, b.add(p.x, num(b, 1, dy)));
}
static Value expm1Slope(Point p, NodeBuilder &b, Value dy) {
  return b.mul(dy, b.add(p.y, num(b, 1, dy)));
}
static Value absSlope(Point p, NodeBuilder &b, Value dy) {
  Value grad = b.mul(dy, b.unary(op::Sign, p.x));
  const double atZero = p.node.getFloat(kSlopeAtZero, 0);
  if (atZero == 0)
    return grad;
  return b.where(b.binary(op::Equal, p.x, num(b, 0, p.x)), b.mul(dy, num(b, atZero, dy)), grad);
}
static Value erfSlope(Point p, NodeBuilder &b, Value dy) {
  Value bell = b.unary(op::Exp, b.neg(b.mul(p.x, p.x)));
  return b.mul(dy, b.mul(bell, num(b, 2 * llvm::numbers::inv_sqrtpi, dy)));
}
static Value softplusSlope(Point p, NodeBuilder &b, Value dy) {
  return b.mul(dy, b.unary(op::Sigmoid, p.x));
}
static Value leakyReluSlope(Point p, NodeBuilder &b, Value dy) {
  Value alpha = num(b, p.node.getFloat("alpha", 0.01), dy);
  return selectPositive(b, p.x, dy, b.mul(dy, alpha));
}
static Value eluSlope(Point p, NodeBuilder &b, Value dy) {
  Value alpha = num(b, p.node.getFloat("alpha", 1), dy);
  return selectPositive(b, p.x, dy, b.mul(dy, b.add(p.y, alpha)));
}
static Value hardSigmoidSlope(Point p, NodeBuilder &b, Value dy) {
  Value inside = b.binary(op::And, b.binary(op::Greater, p.y, num(b, 0, dy)),
                          b.binary(op::Less, p.y, num(b, 1, dy)));
  return b.where(inside, b.mul(dy, num(b, p.node.getFloat("alpha", 0.2), dy)), num(b, 0, dy));
}

static void add(onnx::Operator type, int64_t first, LowerFn lower, GradientFn gradient,
                Function function = Function::None, evaluate::Evaluator evaluator = {},
                Linear linear = Linear::No) {
  registerOp(OpDef{type, first, kNewestOpset, Kind::Elementwise, lower, gradient}
                 .linearly(linear)
                 .computing(function)
                 .evaluatedBy(evaluator));
}
static void addSteps(onnx::Operator type, int64_t first, LowerFn lower,
                     evaluate::Evaluator evaluator = {}) {
  registerOp(OpDef{type, first, kNewestOpset, Kind::Elementwise, lower}.piecewise().evaluatedBy(
      evaluator));
}

void registerUnary() {
  using namespace evaluate;
  add(op::Relu, 7, lowerUnary<relu>, unaryGradient<reluSlope>);
  add(op::Tanh, 7, lowerUnary<one<math::TanhOp>>, unaryGradient<tanhSlope>);
  add(op::Sigmoid, 7, lowerUnary<sigmoid>, unaryGradient<sigmoidSlope>);
  add(op::Exp, 7, lowerUnary<one<math::ExpOp>>, unaryGradient<expSlope>);
  add(op::Log, 7, lowerUnary<one<math::LogOp>>, unaryGradient<logSlope>, Function::Log);
  add(op::Sqrt, 7, lowerUnary<one<math::SqrtOp>>, unaryGradient<sqrtSlope>, Function::Sqrt,
      ofFloats<[](double a) { return std::sqrt(a); }>());
  add(op::Reciprocal, 7, lowerUnary<reciprocal>, unaryGradient<reciprocalSlope>,
      Function::Reciprocal);
  add(op::Neg, 7, lowerUnary<negate>, unaryGradient<negSlope>, Function::None,
      ofNumbers<[](auto a) { return -a; }>(), Linear::InFirst);
  add(op::Abs, 7, lowerUnary<absolute>, unaryGradient<absSlope>, Function::None,
      ofIntegers<[](Wide a) { return a < 0 ? -a : a; }>());
  add(op::Erf, 9, lowerUnary<one<math::ErfOp>>, unaryGradient<erfSlope>);
  add(op::Softplus, 7, lowerUnary<softplus>, unaryGradient<softplusSlope>);
  add({"", "LeakyRelu"}, 7, lowerUnary<leakyRelu>, unaryGradient<leakyReluSlope>);
  add(op::Elu, 7, lowerUnary<elu>, unaryGradient<eluSlope>);
  add(op::HardSigmoid, 7, lowerUnary<hardSigmoid>, unaryGradient<hardSigmoidSlope>);
  addSteps(op::Floor, 7, lowerUnary<one<math::FloorOp>>);
  addSteps(op::Ceil, 7, lowerUnary<one<math::CeilOp>>);
  addSteps(op::Sign, 9, lowerUnary<sign>, ofIntegers<[](Wide a) { return (a > 0) - (a < 0); }>());
  addSteps(op::Round, 11, lowerUnary<one<math::RoundEvenOp>>);
  registerOp({own::Log1p, 1, 1, Kind::Elementwise, lowerUnary<one<math::Log1pOp>>,
              unaryGradient<log1pSlope>});
  registerOp({own::Expm1, 1, 1, Kind::Elementwise, lowerUnary<one<math::ExpM1Op>>,
              unaryGradient<expm1Slope>});
  registerRuntimeOp("ReluGrad", expandGradient<reluSlope>);
  registerRuntimeOp("TanhGrad", expandGradient<tanhSlope>);
  registerRuntimeOp("SigmoidGrad", expandGradient<sigmoidSlope>);
  registerRuntimeOp("LeakyReluGrad", expandGradient<leakyReluSlope>);
}

} // namespace zero::ops
