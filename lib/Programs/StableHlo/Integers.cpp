//===- Integers.cpp - operations on bits ----------------------------------===//

#include "Rules.h"

#include <cmath>

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

template <const onnx::Operator &bits, const onnx::Operator &logical>
static LogicalResult onBits(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Type element = elementOf(op->getOperand(0));
  if (!isa<IntegerType>(element))
    return b.refuse("expected integers");
  results.push_back(
      b.one(isBool(element) ? logical : bits, op->getResult(0).getType(), op->getOperands()));
  return success();
}

/// `element` with the sign that is asked for.
static Type withSign(Type element, bool isUnsigned) {
  auto sign = isUnsigned ? IntegerType::Unsigned : IntegerType::Signless;
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth(), sign);
}

/// A shift of `element` in one direction. The type of a BitShift decides what enters from the left.
static Value shifted(Emitter &b, Value x, Value distance, bool left, bool isUnsigned) {
  Type own = elementOf(x), element = left ? own : withSign(own, isUnsigned);
  Value from = b.bitcast(x, element), by = b.bitcast(distance, element);
  Value result = b.one(op::BitShift, from.getType(), {from, by},
                       b.attr("direction", StringRef(left ? "LEFT" : "RIGHT")));
  return b.bitcast(result, own);
}

template <bool left, bool isUnsigned>
static LogicalResult shift(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Type element = elementOf(op->getOperand(0));
  if (!isa<IntegerType>(element) || isBool(element))
    return b.refuse("expected integers");
  results.push_back(shifted(b, op->getOperand(0), op->getOperand(1), left, isUnsigned));
  return success();
}

/// The number of bits that are 1, by sums of groups of bits that double in size.
static Value countOnes(Emitter &b, Value x) {
  Type own = elementOf(x), element = withSign(own, /*isUnsigned=*/true);
  const unsigned width = element.getIntOrFloatBitWidth();
  x = b.bitcast(x, element);
  auto scalar = RankedTensorType::get({}, element);
  for (unsigned group = 1; group < width; group *= 2) {
    APInt mask = APInt::getSplat(width, APInt::getLowBitsSet(2 * group, group));
    Value low = b.integers(scalar, int64_t(mask.getZExtValue()));
    Value moved = shifted(b, x, b.number(group, element), /*left=*/false, /*isUnsigned=*/true);
    x = b.add(b.binary(op::BitwiseAnd, x, low), b.binary(op::BitwiseAnd, moved, low));
  }
  return b.bitcast(x, own);
}

static LogicalResult popcnt(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Type element = elementOf(op->getOperand(0));
  if (!isa<IntegerType>(element) || isBool(element))
    return b.refuse("expected integers");
  results.push_back(countOnes(b, op->getOperand(0)));
  return success();
}

/// Fills all bits behind the first 1, and counts the zeros that are left.
static LogicalResult countLeadingZeros(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  Type element = elementOf(x);
  if (!isa<IntegerType>(element) || isBool(element))
    return b.refuse("expected integers");
  for (unsigned distance = 1; distance < element.getIntOrFloatBitWidth(); distance *= 2)
    x = b.binary(op::BitwiseOr, x,
                 shifted(b, x, b.number(distance, element), /*left=*/false, /*isUnsigned=*/true));
  results.push_back(countOnes(b, b.unary(op::BitwiseNot, x)));
  return success();
}

//===----------------------------------------------------------------------===//
// bitcast_convert
//===----------------------------------------------------------------------===//

/// The last dimension of `x` as one wider integer for each row, its first element lowest.
static Value widened(Emitter &b, Value x, Type wide) {
  const int64_t axis = shapeOf(x).size() - 1, parts = shapeOf(x)[axis];
  const int64_t width = elementOf(x).getIntOrFloatBitWidth();
  x = b.cast(b.bitcast(x, withSign(elementOf(x), true)), wide);
  Value result;
  for (int64_t part = 0; part < parts; ++part) {
    Value digit = b.reshape(b.sliceAxis(x, axis, part, part + 1), shapeOf(x).drop_back());
    if (part)
      digit = shifted(b, digit, b.number(double(part * width), wide), /*left=*/true, true);
    result = result ? b.binary(op::BitwiseOr, result, digit) : digit;
  }
  return result;
}

/// Each element of `x` as `parts` narrower integers, the lowest first.
static Value narrowed(Emitter &b, Value x, Type narrow, int64_t parts) {
  Type wide = withSign(elementOf(x), true);
  x = b.bitcast(x, wide);
  SmallVector<int64_t> shape = joined(shapeOf(x), 1);
  SmallVector<Value> digits;
  for (int64_t part = 0; part < parts; ++part) {
    double distance = double(part * narrow.getIntOrFloatBitWidth());
    Value digit = part ? shifted(b, x, b.number(distance, wide), /*left=*/false, true) : x;
    digits.push_back(b.reshape(b.cast(digit, narrow), shape));
  }
  return b.concat(digits, shape.size() - 1);
}

/// The float that 16 bits are. Steps may store such floats wider, so bits are moved as those of
/// f32.
static Value floatOfBits(Emitter &b, Value bits, Type to) {
  Type u32 = IntegerType::get(to.getContext(), 32, IntegerType::Unsigned);
  Type f32 = b.getBuilder().getF32Type();
  auto scalar = [&](int64_t value) { return b.integers(RankedTensorType::get({}, u32), value); };
  auto masked = [&](Value x, int64_t mask) { return b.binary(op::BitwiseAnd, x, scalar(mask)); };
  auto moved = [&](Value x, int64_t distance) {
    return shifted(b, x, scalar(distance), /*left=*/true, /*isUnsigned=*/true);
  };
  Value wide = b.cast(bits, u32);
  if (to.isBF16())
    return b.cast(b.bitcast(moved(wide, 16), f32), to);
  // The exponent of f16 is smaller by 112; that of infinity and NaN is the largest in both.
  Value size = b.bitcast(moved(masked(wide, 0x7fff), 13), f32);
  Value scaled = b.mul(size, b.number(std::ldexp(1.0, 112), f32));
  Value isFinite = b.binary(op::Less, masked(wide, 0x7fff), scalar(0x7c00));
  Value largest =
      b.bitcast(b.binary(op::BitwiseOr, moved(masked(wide, 0x7fff), 13), scalar(0x7f800000)), f32);
  Value magnitude = b.bitcast(b.where(isFinite, scaled, largest), u32);
  Value sign = moved(masked(wide, 0x8000), 16);
  return b.cast(b.bitcast(b.binary(op::BitwiseOr, magnitude, sign), f32), to);
}

/// The bits of a bf16 as unsigned integers: the upper half of those of the f32 that it is.
static Value bitsOfShortFloat(Emitter &b, Value x, Type u16) {
  Type u32 = IntegerType::get(u16.getContext(), 32, IntegerType::Unsigned);
  Value bits = b.bitcast(b.cast(x, b.getBuilder().getF32Type()), u32);
  Value distance = b.integers(RankedTensorType::get({}, u32), 16);
  return b.cast(shifted(b, bits, distance, /*left=*/false, /*isUnsigned=*/true), u16);
}

/// The derivative is zero, as in JAX, also where the types are the same.
static LogicalResult bitcastConvert(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  Type from = elementOf(x), to = elementOf(op->getResult(0));
  const int64_t before = from.getIntOrFloatBitWidth(), after = to.getIntOrFloatBitWidth();
  if (isBool(from) || isBool(to) || (from.isF16() && from != to))
    return b.refuse("expected numbers of 8 to 64 bits, and no bits of f16");
  auto unsignedOf = [&](int64_t width) {
    return IntegerType::get(op->getContext(), width, IntegerType::Unsigned);
  };
  if (isa<FloatType>(from))
    x = b.one(own::StopGradient, x.getType(), x);
  if (from == to) {
    results.push_back(x);
    return success();
  }
  x = from.isBF16() ? bitsOfShortFloat(b, x, unsignedOf(before)) : b.bitcast(x, unsignedOf(before));
  if (before < after) {
    if (shapeOf(x).empty() || shapeOf(x).back() != after / before)
      return b.refuse("expected the parts of an element in the last dimension");
    x = widened(b, x, unsignedOf(after));
  } else if (before > after) {
    x = narrowed(b, x, unsignedOf(after), before / after);
  }
  const bool isShortFloat = to.isF16() || to.isBF16();
  results.push_back(isShortFloat ? floatOfBits(b, x, to) : b.bitcast(x, to));
  return success();
}

void addIntegerRules(RuleTable &table) {
  table["stablehlo.and"] = onBits<op::BitwiseAnd, op::And>;
  table["stablehlo.or"] = onBits<op::BitwiseOr, op::Or>;
  table["stablehlo.xor"] = onBits<op::BitwiseXor, op::Xor>;
  table["stablehlo.not"] = onBits<op::BitwiseNot, op::Not>;
  table["stablehlo.shift_left"] = shift<true, false>;
  table["stablehlo.shift_right_logical"] = shift<false, true>;
  table["stablehlo.shift_right_arithmetic"] = shift<false, false>;
  table["stablehlo.popcnt"] = popcnt;
  table["stablehlo.count_leading_zeros"] = countLeadingZeros;
  table["stablehlo.bitcast_convert"] = bitcastConvert;
}

} // namespace zero::hlo
