//===- Codec.cpp - IR that decodes and encodes elements -------------------===//

#include "zero/Stored/Codec.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace zero::stored {

Value buildTable(OpBuilder &builder, Location loc, const CodeTable &table) {
  auto type = RankedTensorType::get({int64_t(table.values().size())}, builder.getF32Type());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, ArrayRef<float>(table.values())));
}

Value decode(OpBuilder &builder, Location loc, Value table, Value code, Value scale) {
  Value index = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), code);
  Value number = tensor::ExtractOp::create(builder, loc, table, index);
  return arith::MulFOp::create(builder, loc, number, scale);
}

Value codeOfHalf(OpBuilder &builder, Location loc, Value byte, Value half) {
  Type i32 = builder.getI32Type();
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(i32, value)).getResult();
  };
  Value both = arith::ExtUIOp::create(builder, loc, i32, byte);
  Value which = arith::IndexCastOp::create(builder, loc, i32, half);
  Value shift = arith::MulIOp::create(builder, loc, which, number(4));
  Value shifted = arith::ShRUIOp::create(builder, loc, both, shift);
  return arith::AndIOp::create(builder, loc, shifted, number(15));
}

namespace {
/// Arithmetic on f32 and i32 with constants.
class Numbers {
public:
  explicit Numbers(ImplicitLocOpBuilder &b) : b(b) {}

  Value real(double value) { return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value))); }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
  }
  Value select(Value condition, Value a, Value other) {
    return arith::SelectOp::create(b, condition, a, other);
  }
  Value fma(Value x, Value factor, Value offset) {
    return math::FmaOp::create(b, x, factor, offset);
  }
  /// The smaller one, `most` if `value` is NaN.
  Value least(Value value, Value most) {
    return select(arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, most), value, most);
  }
  Value truncate(Value value) { return arith::FPToSIOp::create(b, b.getI32Type(), value); }

private:
  ImplicitLocOpBuilder &b;
};
} // namespace

/// The number of the magnitude of a dynamic map that is nearest to `size`. In decade k, with c 2^k
/// numbers, the part of [0.1, 1] in which u = `size` / endOf(k) lies is number
/// c 2^k (u - 0.1) / 0.9, and 1 + c (2^k - 1) numbers are before the decade. Comparing with each
/// decade is a few vector instructions where a search would load single elements.
static Value nearestDynamic(ImplicitLocOpBuilder &b, const CodeTable &table, Value size) {
  Numbers n(b);
  const auto first = double(table.firstCount());
  auto reaches = [&](int64_t decade) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, size, n.real(table.beginOf(decade)));
  };
  Value decade = n.integer(0), factor = n.real(1 / table.endOf(0) / 0.9);
  for (int64_t k = 1; k < table.decades(); ++k) {
    Value isReached = reaches(k);
    decade = arith::SubIOp::create(b, decade, arith::ExtSIOp::create(b, b.getI32Type(), isReached));
    factor = n.select(isReached, n.real(1 / table.endOf(k) / 0.9), factor);
  }
  // 2^k from its bits.
  Value exponent = arith::AddIOp::create(b, decade, n.integer(127));
  Value power = arith::BitcastOp::create(b, b.getF32Type(),
                                         arith::ShLIOp::create(b, exponent, n.integer(23)));
  Value place = arith::MulFOp::create(b, power, n.fma(size, factor, n.real(0.8 / 0.9)));
  // Behind the last number of a decade and before the next one begins.
  Value last = n.fma(power, n.real(2), n.real(-1 / first));
  place = n.fma(n.least(place, last), n.real(first), n.real(1 - first));
  Value number = n.select(reaches(0), n.truncate(place), n.integer(0));
  return arith::SubIOp::create(b, number,
                               arith::ExtSIOp::create(b, b.getI32Type(), reaches(table.decades())));
}

/// The number of the nearest of `count` even steps up to 1.
static Value nearestLinear(ImplicitLocOpBuilder &b, int64_t count, Value size) {
  Numbers n(b);
  Value place = n.fma(size, n.real(double(count)), n.real(-0.5));
  return n.truncate(n.least(place, n.real(double(count - 1))));
}

Value encode(OpBuilder &builder, Location loc, const CodeTable &table, Value value, Value inverse) {
  ImplicitLocOpBuilder b(loc, builder);
  Numbers n(b);
  Value size = arith::MulFOp::create(b, math::AbsFOp::create(b, value), inverse);
  if (table.map() == CodeMap::LinearPositive)
    return nearestLinear(b, int64_t(table.values().size()), size);
  Value magnitude = nearestDynamic(b, table, size);
  if (table.map() == CodeMap::DynamicPositive)
    return magnitude;
  Value zero = n.integer(table.zeroCode());
  Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, n.real(0));
  // There is no -1: its code is that of the largest negative number.
  Value negated = arith::SubIOp::create(b, zero, arith::MinSIOp::create(b, magnitude, zero));
  return n.select(isNegative, negated, arith::AddIOp::create(b, zero, magnitude));
}

/// The finalizer of a hash: shifts and products with constants whose bias is low, from Wellons,
/// "Hash Prospector" (2018, lowbias32).
Value mixBits(OpBuilder &builder, Location loc, Value bits) {
  ImplicitLocOpBuilder b(loc, builder);
  Numbers n(b);
  auto fold = [&](int64_t shift) {
    bits = arith::XOrIOp::create(b, bits, arith::ShRUIOp::create(b, bits, n.integer(shift)));
  };
  fold(16);
  bits = arith::MulIOp::create(b, bits, n.integer(0x7feb352d));
  fold(15);
  bits = arith::MulIOp::create(b, bits, n.integer(0x846ca68b));
  fold(16);
  return bits;
}

Value bitsOfStep(OpBuilder &builder, Location loc, Value step, int64_t seed) {
  ImplicitLocOpBuilder b(loc, builder);
  Value number = arith::TruncIOp::create(b, b.getI32Type(), step);
  return mixBits(b, loc, arith::XOrIOp::create(b, number, Numbers(b).integer(seed)));
}

/// Adds up to one unit of bf16's last place, then cuts off what is below it. NaN, which such a sum
/// could turn into -0, stays.
Value roundAtRandom(OpBuilder &builder, Location loc, Value value, Value bits) {
  ImplicitLocOpBuilder b(loc, builder);
  Numbers n(b);
  Value own = arith::BitcastOp::create(b, b.getI32Type(), value);
  Value random = mixBits(b, loc, arith::XOrIOp::create(b, own, bits));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value below = arith::AndIOp::create(b, random, n.integer(0xffff));
  below = n.select(isNan, n.integer(0), below);
  Value sum = arith::AddIOp::create(b, own, below);
  Value high =
      arith::TruncIOp::create(b, b.getI16Type(), arith::ShRUIOp::create(b, sum, n.integer(16)));
  return arith::BitcastOp::create(b, b.getBF16Type(), high);
}

} // namespace zero::stored
