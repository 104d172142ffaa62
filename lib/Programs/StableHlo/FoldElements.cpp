//===- FoldElements.cpp - one element of a folded op ----------------------===//

#include "FoldElements.h"

#include "dialects/StableHlo/StableHlo.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

namespace {
/// An integer of the types of StableHLO, in which signless means signed and booleans have no sign.
struct Number {
  APInt bits;
  bool isUnsigned;

  bool less(const Number &other) const {
    return isUnsigned ? bits.ult(other.bits) : bits.slt(other.bits);
  }
};
} // namespace

static Number numberOf(Attribute attr) {
  auto integer = cast<IntegerAttr>(attr);
  return {integer.getValue(),
          integer.getType().isUnsignedInteger() || integer.getType().isInteger(1)};
}

/// Division of integers as StableHLO has it: by 0 gives all ones.
static APInt divided(const Number &a, const Number &b) {
  if (b.bits.isZero())
    return APInt::getAllOnes(a.bits.getBitWidth());
  return a.isUnsigned ? a.bits.udiv(b.bits) : a.bits.sdiv(b.bits);
}

static APInt remainderOf(const Number &a, const Number &b) {
  if (b.bits.isZero())
    return a.bits;
  return a.isUnsigned ? a.bits.urem(b.bits) : a.bits.srem(b.bits);
}

/// A shift by the width or more leaves the sign of a signed shift to the right, else 0.
static APInt shifted(StringRef name, const Number &a, const Number &b) {
  const unsigned width = a.bits.getBitWidth();
  const unsigned distance = b.bits.getLimitedValue(width);
  if (name == "stablehlo.shift_left")
    return a.bits.shl(distance);
  return name == "stablehlo.shift_right_logical" ? a.bits.lshr(distance) : a.bits.ashr(distance);
}

static std::optional<APInt> foldBinary(StringRef name, const Number &a, const Number &b) {
  const bool isBool = a.bits.getBitWidth() == 1;
  if (name == "stablehlo.add")
    return isBool ? a.bits | b.bits : a.bits + b.bits;
  if (name == "stablehlo.subtract" && !isBool)
    return a.bits - b.bits;
  if (name == "stablehlo.multiply")
    return a.bits * b.bits;
  if (name == "stablehlo.divide" && !isBool)
    return divided(a, b);
  if (name == "stablehlo.remainder" && !isBool)
    return remainderOf(a, b);
  if (name == "stablehlo.maximum")
    return a.less(b) ? b.bits : a.bits;
  if (name == "stablehlo.minimum")
    return b.less(a) ? b.bits : a.bits;
  if (name == "stablehlo.and")
    return a.bits & b.bits;
  if (name == "stablehlo.or")
    return a.bits | b.bits;
  if (name == "stablehlo.xor")
    return a.bits ^ b.bits;
  if (name.starts_with("stablehlo.shift_"))
    return shifted(name, a, b);
  return std::nullopt;
}

static std::optional<APInt> foldUnary(StringRef name, const Number &a) {
  if (name == "stablehlo.not")
    return ~a.bits;
  if (a.bits.getBitWidth() == 1)
    return std::nullopt;
  if (name == "stablehlo.negate")
    return -a.bits;
  if (name == "stablehlo.abs" && !a.isUnsigned)
    return a.bits.abs();
  return std::nullopt;
}

static bool holds(ComparisonDirection direction, bool less, bool equal) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return equal;
  case ComparisonDirection::NE:
    return !equal;
  case ComparisonDirection::GE:
    return !less;
  case ComparisonDirection::GT:
    return !less && !equal;
  case ComparisonDirection::LE:
    return less || equal;
  case ComparisonDirection::LT:
    return less;
  }
  return false;
}

static Attribute foldCompare(CompareOp op, const Number &a, const Number &b) {
  bool result = holds(op.getComparisonDirection(), a.less(b), a.bits == b.bits);
  return IntegerAttr::get(IntegerType::get(op.getContext(), 1), result);
}

/// Integer to integer wraps, and to a boolean is `!= 0`.
static Attribute foldConvert(const Number &a, Type element) {
  if (element.isInteger(1))
    return IntegerAttr::get(element, APInt(1, !a.bits.isZero()));
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerAttr::get(element, a.isUnsigned ? a.bits.zextOrTrunc(integer.getWidth())
                                                  : a.bits.sextOrTrunc(integer.getWidth()));
  APFloat value(cast<FloatType>(element).getFloatSemantics());
  value.convertFromAPInt(a.bits, !a.isUnsigned, APFloat::rmNearestTiesToEven);
  return FloatAttr::get(element, value);
}

static Attribute foldClamp(const Number &low, const Number &value, const Number &high,
                           Type element) {
  const Number &raised = value.less(low) ? low : value;
  return IntegerAttr::get(element, high.less(raised) ? high.bits : raised.bits);
}

/// Arithmetic that IEEE 754 rounds once. A result that is denormal or not finite is left to the
/// step.
static Attribute foldFloats(StringRef name, ArrayRef<Attribute> operands, Type element) {
  APFloat a = cast<FloatAttr>(operands[0]).getValue();
  constexpr auto nearest = APFloat::rmNearestTiesToEven;
  if (operands.size() == 1 && name == "stablehlo.negate") {
    a.changeSign();
  } else if (name == "chlo.square") {
    a.multiply(a, nearest);
  } else if (operands.size() == 1 && name == "stablehlo.convert" && isa<FloatType>(element)) {
    bool losesInfo = false;
    a.convert(cast<FloatType>(element).getFloatSemantics(), nearest, &losesInfo);
  } else if (operands.size() == 2) {
    APFloat b = cast<FloatAttr>(operands[1]).getValue();
    if (name == "stablehlo.add")
      a.add(b, nearest);
    else if (name == "stablehlo.subtract")
      a.subtract(b, nearest);
    else if (name == "stablehlo.multiply")
      a.multiply(b, nearest);
    else if (name == "stablehlo.divide")
      a.divide(b, nearest);
    else
      return {};
  } else {
    return {};
  }
  return a.isFinite() && !a.isDenormal() ? FloatAttr::get(element, a) : Attribute();
}

Attribute foldElement(Operation *op, ArrayRef<Attribute> operands, Type element) {
  StringRef name = op->getName().getStringRef();
  if (isa<SelectOp>(op)) {
    auto condition = dyn_cast<IntegerAttr>(operands[0]);
    return condition ? operands[condition.getValue().isZero() ? 2 : 1] : Attribute();
  }
  if (isa<OptimizationBarrierOp>(op))
    return operands[0];
  if (llvm::all_of(operands, llvm::IsaPred<FloatAttr>) && isa<FloatType>(element))
    return foldFloats(name, operands, element);
  if (!llvm::all_of(operands, llvm::IsaPred<IntegerAttr>))
    return {};
  SmallVector<Number> numbers(llvm::map_range(operands, numberOf));
  if (auto compare = dyn_cast<CompareOp>(op))
    return foldCompare(compare, numbers[0], numbers[1]);
  if (name == "stablehlo.convert")
    return foldConvert(numbers[0], element);
  if (isa<ClampOp>(op))
    return foldClamp(numbers[0], numbers[1], numbers[2], element);
  std::optional<APInt> result;
  if (numbers.size() == 1)
    result = foldUnary(name, numbers[0]);
  else if (numbers.size() == 2)
    result = foldBinary(name, numbers[0], numbers[1]);
  if (!result || !isa<IntegerType>(element) ||
      element.getIntOrFloatBitWidth() != result->getBitWidth())
    return {};
  return IntegerAttr::get(element, *result);
}

} // namespace zero::hlo
