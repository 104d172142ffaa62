//===- LinalgScalars.cpp - operations on elements as nodes ----------------===//

#include "dialects/Onnx/ElementTypes.h"
#include "zero/Programs/Linalg/ScalarNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zero {

namespace {
/// An operation and the operator that computes the same for operands of one type.
struct SameOperator {
  StringLiteral operation;
  onnx::Operator type;
};
} // namespace

static constexpr SameOperator kSame[] = {
    {"arith.addf", op::Add},     {"arith.addi", op::Add},       {"arith.subf", op::Sub},
    {"arith.subi", op::Sub},     {"arith.mulf", op::Mul},       {"arith.muli", op::Mul},
    {"arith.divf", op::Div},     {"arith.divsi", op::Div},      {"arith.negf", op::Neg},
    {"arith.maximumf", op::Max}, {"arith.minimumf", op::Min},   {"arith.maxsi", op::Max},
    {"arith.minsi", op::Min},    {"math.absf", op::Abs},        {"math.absi", op::Abs},
    {"math.acos", op::Acos},     {"math.acosh", op::Acosh},     {"math.asin", op::Asin},
    {"math.asinh", op::Asinh},   {"math.atan", op::Atan},       {"math.atanh", op::Atanh},
    {"math.ceil", op::Ceil},     {"math.cos", op::Cos},         {"math.cosh", op::Cosh},
    {"math.erf", op::Erf},       {"math.exp", op::Exp},         {"math.floor", op::Floor},
    {"math.log", op::Log},       {"math.roundeven", op::Round}, {"math.sin", op::Sin},
    {"math.sinh", op::Sinh},     {"math.sqrt", op::Sqrt},       {"math.tan", op::Tan},
    {"math.tanh", op::Tanh},
};

Type elementFor(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? IntegerType::get(type.getContext(), 64) : element;
}

static bool isBool(Value value) { return getElementTypeOrSelf(value).isInteger(1); }

static unsigned widthOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }

Value ScalarNodes::node(onnx::Operator type, Type element, ValueRange operands,
                        ArrayRef<NamedAttribute> attrs) {
  SmallVector<int64_t> shape;
  for (Value operand : operands) {
    ArrayRef<int64_t> own = tensorType(operand).getShape();
    if (own.size() > shape.size())
      shape.insert(shape.begin(), own.size() - shape.size(), 1);
    auto last = MutableArrayRef(shape).take_back(own.size());
    for (auto [extent, other] : llvm::zip_equal(last, own))
      extent = extent == 1 ? other : extent;
  }
  return nodes.create(type, RankedTensorType::get(shape, element), operands, attrs).getResult(0);
}

Value ScalarNodes::constant(TypedAttr value) {
  Type element = elementFor(value.getType());
  Attribute attr = value;
  if (auto number = dyn_cast<IntegerAttr>(value); number && number.getType().isIndex())
    attr = builder.getI64IntegerAttr(number.getInt());
  auto type = RankedTensorType::get({}, element);
  return arith::ConstantOp::create(builder, nodes.getLoc(), DenseElementsAttr::get(type, attr));
}

Value ScalarNodes::integer(int64_t value, Type element) {
  return constant(builder.getIntegerAttr(element, value));
}

/// The bits of `value`, an integer, as an unsigned one.
Value ScalarNodes::asUnsigned(Value value) {
  return nodes.cast(value,
                    IntegerType::get(builder.getContext(), widthOf(value), IntegerType::Unsigned));
}

/// Signed integers that are in the order of `value` as unsigned integers.
Value ScalarNodes::ordered(Value value) {
  Type i64 = builder.getI64Type();
  if (isBool(value))
    return nodes.cast(value, i64);
  if (widthOf(value) < 64)
    return nodes.cast(asUnsigned(value), i64);
  return node(op::BitwiseXor, i64, {value, integer(std::numeric_limits<int64_t>::min(), i64)});
}

Value ScalarNodes::cast(Operation *op, Value value) {
  Type to = elementFor(op->getResult(0).getType());
  if (isa<arith::FPToUIOp>(op) && widthOf(value) && to.isInteger(64))
    return {}; // half of the values are negative as signed integers
  bool isUnsigned = isa<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(op);
  if (isUnsigned && !isBool(value))
    value = asUnsigned(value);
  if (isa<arith::ExtSIOp, arith::SIToFPOp>(op) && isBool(value)) // true is -1
    return nodes.neg(nodes.cast(value, to));
  if (isa<arith::TruncIOp>(op) && to.isInteger(1)) {
    Type from = getElementTypeOrSelf(value);
    value = node(op::BitwiseAnd, from, {value, integer(1, from)});
  }
  return nodes.cast(value, to);
}

Value ScalarNodes::compareIntegers(Operation *op, Value a, Value b) {
  using P = arith::CmpIPredicate;
  P predicate = cast<arith::CmpIOp>(op).getPredicate();
  APInt known;
  if (isBool(a) && (predicate == P::eq || predicate == P::ne) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&known)))
    return known.isZero() == (predicate == P::eq) ? invert(a) : a;
  if (predicate == P::eq)
    return nodes.binary(op::Equal, a, b);
  if (predicate == P::ne)
    return invert(nodes.binary(op::Equal, a, b));
  if (llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, predicate)) {
    a = ordered(a);
    b = ordered(b);
  } else if (isBool(a)) {
    return {}; // true is -1
  }
  if (predicate == P::slt || predicate == P::ult)
    return nodes.binary(op::Less, a, b);
  if (predicate == P::sle || predicate == P::ule)
    return nodes.binary(op::LessOrEqual, a, b);
  if (predicate == P::sgt || predicate == P::ugt)
    return nodes.binary(op::Greater, a, b);
  return nodes.binary(op::GreaterOrEqual, a, b);
}

/// `wide` before it was cast from floats of fewer bits, if these can also hold `number`; with that.
static std::pair<Value, FloatAttr> narrowed(Value wide, Value number) {
  auto cast = wide.getDefiningOp<onnx::NodeOp>();
  FloatAttr value;
  if (!cast || !cast.is(op::Cast) || !matchPattern(number, m_Constant(&value)))
    return {};
  auto narrow = dyn_cast<FloatType>(getElementTypeOrSelf(cast.getInputs()[0]));
  if (!narrow || narrow.getWidth() >= value.getType().getIntOrFloatBitWidth())
    return {};
  APFloat rounded = value.getValue();
  bool losesInfo = false;
  rounded.convert(narrow.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (losesInfo)
    return {};
  return {cast.getInputs()[0], FloatAttr::get(narrow, rounded)};
}

/// Comparisons of ONNX are ordered: false where an operand is NaN.
Value ScalarNodes::compareFloats(Operation *op, Value a, Value b) {
  using P = arith::CmpFPredicate;
  if (auto [narrow, number] = narrowed(a, op->getOperand(1)); narrow) {
    a = narrow;
    b = constant(number);
  }
  auto isNan = [&] {
    Value either = nodes.unary(op::IsNaN, a);
    return a == b ? either : nodes.binary(op::Or, either, nodes.unary(op::IsNaN, b));
  };
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case P::OEQ:
    return nodes.binary(op::Equal, a, b);
  case P::UNE:
    return invert(nodes.binary(op::Equal, a, b));
  case P::OLT:
    return nodes.binary(op::Less, a, b);
  case P::OLE:
    return nodes.binary(op::LessOrEqual, a, b);
  case P::OGT:
    return nodes.binary(op::Greater, a, b);
  case P::OGE:
    return nodes.binary(op::GreaterOrEqual, a, b);
  case P::ULT:
    return invert(nodes.binary(op::GreaterOrEqual, a, b));
  case P::ULE:
    return invert(nodes.binary(op::Greater, a, b));
  case P::UGT:
    return invert(nodes.binary(op::LessOrEqual, a, b));
  case P::UGE:
    return invert(nodes.binary(op::Less, a, b));
  case P::UNO:
    return isNan();
  case P::ORD:
    return invert(isNan());
  case P::UEQ:
    return nodes.binary(op::Or, nodes.binary(op::Equal, a, b), isNan());
  case P::ONE:
    return invert(nodes.binary(op::Or, nodes.binary(op::Equal, a, b), isNan()));
  default:
    return {};
  }
}

/// The value x of select(x > 0 or NaN, x, 0), which is a Relu, or of the same with other words;
/// else a null value. A minus zero becomes zero in both.
static Value rectified(arith::SelectOp choice) {
  auto test = choice ? choice.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!test || !matchPattern(test.getRhs(), m_AnyZeroFloat()))
    return {};
  bool takesFirst = test.getPredicate() == arith::CmpFPredicate::UGT;
  if (!takesFirst && test.getPredicate() != arith::CmpFPredicate::OLE)
    return {};
  Value kept = takesFirst ? choice.getTrueValue() : choice.getFalseValue();
  Value zero = takesFirst ? choice.getFalseValue() : choice.getTrueValue();
  return kept == test.getLhs() && matchPattern(zero, m_PosZeroFloat()) ? kept : Value();
}

Value ScalarNodes::select(Operation *op, Value condition, Value a, Value b) {
  if (Value kept = rectified(cast<arith::SelectOp>(op)); kept && form == Form::Exact)
    return nodes.unary(op::Relu, kept == op->getOperand(1) ? a : b);
  if (!isBool(a))
    return node(op::Where, getElementTypeOrSelf(a), {condition, a, b});
  Value first = nodes.binary(op::And, condition, a);
  return nodes.binary(op::Or, first, nodes.binary(op::And, invert(condition), b));
}

/// Minimum, maximum, quotient and remainder of unsigned integers.
Value ScalarNodes::unsignedOp(Operation *op, Value a, Value b) {
  if (isBool(a) && isa<arith::MaxUIOp, arith::MinUIOp>(op))
    return nodes.binary(isa<arith::MaxUIOp>(op) ? op::Or : op::And, a, b);
  if (isa<arith::MaxUIOp>(op))
    return nodes.where(nodes.binary(op::Less, ordered(a), ordered(b)), b, a);
  if (isa<arith::MinUIOp>(op))
    return nodes.where(nodes.binary(op::Less, ordered(a), ordered(b)), a, b);
  // An index here is never negative.
  bool isIndex = op->getResult(0).getType().isIndex();
  Type element = getElementTypeOrSelf(a), i64 = builder.getI64Type();
  if (!isIndex && widthOf(a) == 64)
    return {};
  if (!isIndex) {
    a = ordered(a);
    b = ordered(b);
  }
  Value result = isa<arith::DivUIOp>(op) ? nodes.div(a, b) : node(op::Mod, i64, {a, b});
  return nodes.cast(result, element);
}

Value ScalarNodes::shift(Operation *op, Value value, Value by) {
  Type element = getElementTypeOrSelf(value);
  StringRef direction = isa<arith::ShLIOp>(op) ? "LEFT" : "RIGHT";
  Value bits = asUnsigned(value);
  Value shifted = node(op::BitShift, getElementTypeOrSelf(bits), {bits, asUnsigned(by)},
                       nodes.attr("direction", direction));
  return nodes.cast(shifted, element);
}

Value ScalarNodes::bitwise(Operation *op, Value a, Value b) {
  bool isAnd = isa<arith::AndIOp>(op), isOr = isa<arith::OrIOp>(op);
  if (isBool(a))
    return nodes.binary(isAnd ? op::And : isOr ? op::Or : op::Xor, a, b);
  onnx::Operator type = isAnd ? op::BitwiseAnd : isOr ? op::BitwiseOr : op::BitwiseXor;
  return node(type, getElementTypeOrSelf(a), {a, b});
}

/// A right shift that keeps the sign: of what is negative, the inverse of the shifted inverse.
Value ScalarNodes::arithmeticShift(Value value, Value by) {
  Type element = getElementTypeOrSelf(value);
  auto shifted = [&](Value bits) {
    Value from = asUnsigned(bits);
    Value to = node(op::BitShift, getElementTypeOrSelf(from), {from, asUnsigned(by)},
                    nodes.attr("direction", StringRef("RIGHT")));
    return nodes.cast(to, element);
  };
  Value isNegative = nodes.binary(op::Less, value, integer(0, element));
  Value inverse = nodes.unary(op::BitwiseNot, value);
  return nodes.where(isNegative, nodes.unary(op::BitwiseNot, shifted(inverse)), shifted(value));
}

/// The larger or smaller number; the other operand where one is NaN.
Value ScalarNodes::ignoringNan(onnx::Operator type, Value a, Value b) {
  Value both = node(type, getElementTypeOrSelf(a), {a, b});
  Value first = nodes.where(nodes.unary(op::IsNaN, b), a, both);
  return nodes.where(nodes.unary(op::IsNaN, a), b, first);
}

/// The quotient of integers, rounded down, or up.
Value ScalarNodes::floorDivide(Operation *op, Value a, Value b) {
  Type element = getElementTypeOrSelf(a);
  bool isFloor = isa<arith::FloorDivSIOp>(op);
  Value zero = integer(0, element), quotient = nodes.div(a, b);
  Value isExact = nodes.binary(op::Equal, nodes.mul(quotient, b), a);
  Value differ =
      nodes.binary(op::Xor, nodes.binary(op::Less, a, zero), nodes.binary(op::Less, b, zero));
  Value rounds = nodes.binary(op::And, invert(isExact), isFloor ? differ : invert(differ));
  return nodes.where(rounds, nodes.add(quotient, integer(isFloor ? -1 : 1, element)), quotient);
}

Value ScalarNodes::copySign(Value magnitude, Value sign) {
  Value zero = nodes.scalar(0, sign.getType());
  magnitude = nodes.unary(op::Abs, magnitude);
  Value isNegative = nodes.binary(op::Less, sign, zero);
  // A minus zero compares as zero.
  if (form == Form::Exact)
    isNegative = nodes.binary(op::Or, isNegative,
                              nodes.binary(op::Less, nodes.unary(op::Reciprocal, sign), zero));
  return nodes.where(isNegative, nodes.neg(magnitude), magnitude);
}

/// To the nearest whole number, half away from zero, or towards zero.
Value ScalarNodes::rounded(Operation *op, Value x) {
  Value whole = nodes.unary(op::Floor, nodes.unary(op::Abs, x));
  if (isa<math::RoundOp>(op)) {
    Value rest = nodes.sub(nodes.unary(op::Abs, x), whole);
    Value isUp = nodes.binary(op::GreaterOrEqual, rest, nodes.scalar(0.5, x.getType()));
    whole = nodes.where(isUp, nodes.add(whole, nodes.scalar(1, x.getType())), whole);
  }
  return copySign(whole, x);
}

/// A whole exponent that is constant and exact in the base's type becomes a float: such powers are
/// products.
Value ScalarNodes::power(Operation *op, Value base, Value exponent) {
  Type element = getElementTypeOrSelf(base);
  APInt whole;
  constexpr int64_t kExact = 256;
  if (isa<math::FPowIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&whole)) &&
      whole.getSignificantBits() <= 64 && std::abs(whole.getSExtValue()) <= kExact)
    exponent = nodes.scalar(double(whole.getSExtValue()), element);
  return node(op::Pow, element, {base, exponent});
}

/// 1 / (1 + exp(-x)), as a Sigmoid computes it.
Value ScalarNodes::sigmoidOf(Operation *op, ValueRange x) {
  auto isOne = [](Value value) { return matchPattern(value, m_OneFloat()); };
  if (form != Form::Exact || !isa<arith::DivFOp>(op) || !isOne(op->getOperand(0)))
    return {};
  auto made = [](Value value, onnx::Operator type) {
    auto node = value.getDefiningOp<onnx::NodeOp>();
    return node && node.is(type) ? node : onnx::NodeOp();
  };
  onnx::NodeOp sum = made(x[1], op::Add);
  for (unsigned side : {0u, 1u}) {
    DenseFPElementsAttr unit;
    if (!sum || !matchPattern(sum.getInputs()[1 - side], m_Constant(&unit)) || !unit.isSplat() ||
        !unit.getSplatValue<APFloat>().isExactlyValue(1))
      continue;
    onnx::NodeOp decay = made(sum.getInputs()[side], op::Exp);
    if (onnx::NodeOp minus = decay ? made(decay.getInputs()[0], op::Neg) : decay)
      if (minus.getInputs()[0].getType() == x[1].getType())
        return nodes.unary(op::Sigmoid, minus.getInputs()[0]);
  }
  return {};
}

Value ScalarNodes::bitCast(Operation *op, Value value) {
  constexpr int64_t kBitCastOpset = 26;
  Type to = elementFor(op->getResult(0).getType());
  if (form != Form::Exact || isBool(value) || to.isInteger(1))
    return {};
  auto cast = nodes.create(op::BitCast, tensorType(value).clone(to), value,
                           nodes.attr("to", onnx::dataTypeOf(to)));
  cast.setOpset(kBitCastOpset);
  return cast.getResult(0);
}

/// Operations that take several nodes.
Value ScalarNodes::composite(Operation *op, ValueRange x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::FmaOp) { return nodes.add(nodes.mul(x[0], x[1]), x[2]); })
      .Case([&](math::CopySignOp) { return copySign(x[0], x[1]); })
      .Case<arith::RemSIOp, arith::RemFOp>([&](Operation *) {
        return node(op::Mod, getElementTypeOrSelf(x[0]), x, nodes.attr("fmod", int64_t(1)));
      })
      .Case([&](math::IsNaNOp) { return nodes.unary(op::IsNaN, x[0]); })
      .Case([&](math::IsInfOp) { return nodes.unary(op::IsInf, x[0]); })
      .Case([&](math::IsFiniteOp) {
        return invert(
            nodes.binary(op::Or, nodes.unary(op::IsNaN, x[0]), nodes.unary(op::IsInf, x[0])));
      })
      .Case<math::RoundOp, math::TruncOp>([&](Operation *) { return rounded(op, x[0]); })
      .Case([&](math::ClampFOp) {
        Type element = getElementTypeOrSelf(x[0]);
        return node(op::Min, element, {node(op::Max, element, {x[0], x[1]}), x[2]});
      })
      .Case<math::PowFOp, math::FPowIOp, math::IPowIOp>(
          [&](Operation *) { return power(op, x[0], x[1]); })
      .Case([&](arith::MaxNumFOp) { return ignoringNan(op::Max, x[0], x[1]); })
      .Case([&](arith::MinNumFOp) { return ignoringNan(op::Min, x[0], x[1]); })
      .Case<arith::FloorDivSIOp, arith::CeilDivSIOp>(
          [&](Operation *) { return floorDivide(op, x[0], x[1]); })
      .Case([&](arith::ShRSIOp) { return arithmeticShift(x[0], x[1]); })
      .Case([&](arith::BitcastOp) { return bitCast(op, x[0]); })
      .Default([&](Operation *) { return function(op, x); });
}

Value ScalarNodes::emit(Operation *op, ValueRange x) {
  if (auto known = dyn_cast<arith::ConstantOp>(op))
    return constant(known.getValue());
  StringRef name = op->getName().getStringRef();
  const auto *same =
      llvm::find_if(kSame, [&](const SameOperator &entry) { return entry.operation == name; });
  if (Value sigmoid = sigmoidOf(op, x))
    return sigmoid;
  // Booleans have other operators.
  if (same != std::end(kSame))
    return isBool(x[0]) ? Value() : node(same->type, getElementTypeOrSelf(x[0]), x);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
            arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::IndexCastOp,
            arith::IndexCastUIOp>([&](Operation *) { return cast(op, x[0]); })
      .Case([&](arith::CmpIOp) { return compareIntegers(op, x[0], x[1]); })
      .Case([&](arith::CmpFOp) { return compareFloats(op, x[0], x[1]); })
      .Case([&](arith::SelectOp) { return select(op, x[0], x[1], x[2]); })
      .Case<arith::MaxUIOp, arith::MinUIOp, arith::DivUIOp, arith::RemUIOp>(
          [&](Operation *) { return unsignedOp(op, x[0], x[1]); })
      .Case<arith::ShLIOp, arith::ShRUIOp>([&](Operation *) { return shift(op, x[0], x[1]); })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(
          [&](Operation *) { return bitwise(op, x[0], x[1]); })
      .Default([&](Operation *) { return composite(op, x); });
}

} // namespace zero
