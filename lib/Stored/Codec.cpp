//===- Codec.cpp - IR that decodes and encodes elements -------------------===//

#include "zero/Stored/Codec.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cmath>

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

Value shiftOfHalf(OpBuilder &builder, Location loc, Value half) {
  Type i32 = builder.getI32Type();
  Value four = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(4));
  return arith::MulIOp::create(builder, loc, arith::IndexCastOp::create(builder, loc, i32, half),
                               four);
}

Value codeOfHalf(OpBuilder &builder, Location loc, Value byte, Value half) {
  Value both = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), byte);
  Value shifted = arith::ShRUIOp::create(builder, loc, both, shiftOfHalf(builder, loc, half));
  Value mask = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(15));
  return arith::AndIOp::create(builder, loc, shifted, mask);
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

/// The number of the magnitude of a dynamic map that is nearest to `size`, 1 + c (place - 1) cut
/// off. In decade k, with c 2^k numbers, place is 2^k (1 + (u - 0.1) / 0.9) for u = `size` /
/// endOf(k), a line. Lines of later decades are less steep, so the lowest one at `size` is that of
/// its decade. Evaluating all of them takes fewer vector instructions than choosing one, and a
/// search would load single elements.
static Value nearestDynamic(ImplicitLocOpBuilder &b, const CodeTable &table, Value size) {
  Numbers n(b);
  const auto first = double(table.firstCount());
  // Numbers of a decade are 5 times as far apart as those of the decade before. So the middle
  // between the two next to its beginning, 2^k, is 0.2 numbers above it.
  const double middle = 0.2 / first;
  Value place = n.real(std::exp2(table.decades()) - 0.5 / first); // at most its last number
  auto takeLowest = [&](double slope, double offset) {
    place = n.least(n.fma(size, n.real(slope), n.real(offset)), place);
  };
  for (int64_t k = table.decades() - 1; k > 0; --k)
    takeLowest(std::exp2(k) / 0.9 / table.endOf(k), std::exp2(k) * 8 / 9);
  // The first number is between 0 and 1 / c of decade 0.
  const double begin = table.beginOf(0), end = (0.1 + 0.9 / first) * table.endOf(0);
  const double slope = (1 / first - middle) / (end - begin);
  takeLowest(slope, 1 + middle - begin * slope);

  Value bits = arith::BitcastOp::create(b, b.getI32Type(), place);
  Value power = arith::BitcastOp::create(
      b, b.getF32Type(), arith::AndIOp::create(b, bits, n.integer(0xff800000))); // 2^k
  auto isOne = [&](arith::CmpFPredicate predicate, Value a, double limit) {
    return arith::ExtSIOp::create(b, b.getI32Type(),
                                  arith::CmpFOp::create(b, predicate, a, n.real(limit)));
  };
  Value number = n.truncate(n.fma(place, n.real(first), n.real(1 - first)));
  Value above = arith::SubFOp::create(b, place, power);
  number = arith::AddIOp::create(b, number, isOne(arith::CmpFPredicate::OLT, above, middle));
  return arith::SubIOp::create(
      b, number, isOne(arith::CmpFPredicate::OGE, size, table.beginOf(table.decades())));
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
  const bool isSigned = table.map() == CodeMap::Dynamic;
  Value size = isSigned ? math::AbsFOp::create(b, value).getResult() : value;
  size = arith::MulFOp::create(b, size, inverse);
  if (table.map() == CodeMap::LinearPositive)
    return nearestLinear(b, int64_t(table.values().size()), size);
  Value magnitude = nearestDynamic(b, table, size);
  if (!isSigned)
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
