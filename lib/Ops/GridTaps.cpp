//===- GridTaps.cpp - pixels that contribute to a place -------------------===//

#include "GridTaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

namespace {
using Mode = Sampler::Mode;
using Padding = Sampler::Padding;

/// A number and how it changes with the grid's coordinate.
struct Number {
  Value value, slope;
};

/// Arithmetic on floats of one type at one place.
struct Floats {
  Floats(ImplicitLocOpBuilder &b, Type type) : b(b), type(type) {}

  Value of(double value) const { return constant(b, type, value); }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, x, y); }
  Value floor(Value x) const { return math::FloorOp::create(b, x); }
  Value less(Value x, Value y) const {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  }
  Value select(Value condition, Value x, Value y) const {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// `x` in [low, high], also where it is no number.
  Value clamp(Value x, double low, double high) const {
    Value atLeast = arith::MaxNumFOp::create(b, x, of(low));
    return arith::MinNumFOp::create(b, atLeast, of(high));
  }
  /// ((c[0] x + c[1]) x + ...).
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value sum = of(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = add(mul(sum, x), of(coefficient));
    return sum;
  }

  ImplicitLocOpBuilder &b;
  Type type;
};

/// A pixel of one dimension.
struct LineTap {
  Value index; ///< i32
  Value weight, slope;
  Value inside; ///< or null
};
} // namespace

/// The grid's coordinate in pixels of a line of `extent`.
static Number pixelsOf(const Floats &f, const Sampler &sampler, int64_t extent, Value coordinate) {
  double scale = double(sampler.alignCorners ? extent - 1 : extent) / 2;
  Value moved = f.add(coordinate, f.of(1));
  Value place = f.mul(moved, f.of(scale));
  if (!sampler.alignCorners)
    place = f.sub(place, f.of(0.5));
  return {place, f.of(scale)};
}

/// Mirrors a place at `low` and `high`, as often as it takes.
static Number reflected(const Floats &f, Number place, double low, double high) {
  if (low == high)
    return {f.of(low), f.of(0)};
  Value from = f.sub(place.value, f.of(low));
  Value distance = math::AbsFOp::create(f.b, from);
  Value times = f.floor(arith::DivFOp::create(f.b, distance, f.of(high - low)));
  Value rest = f.sub(distance, f.mul(times, f.of(high - low)));
  Value half = f.mul(times, f.of(0.5));
  Value isOdd = f.less(f.floor(half), half);
  Value value = f.select(isOdd, f.sub(f.of(high), rest), f.add(f.of(low), rest));
  Value turns = arith::XOrIOp::create(f.b, isOdd, f.less(from, f.of(0)));
  return {value, f.select(turns, f.sub(f.of(0), place.slope), place.slope)};
}

/// The position on the line that represents `place`, which may be outside of it.
static Number onLine(const Floats &f, const Sampler &sampler, int64_t extent, Number place) {
  double low = sampler.alignCorners ? 0 : -0.5, high = double(extent - 1) - low;
  if (sampler.mode == Mode::Nearest)
    place.value = math::RoundEvenOp::create(f.b, place.value);
  if (sampler.padding != Padding::Zeros) {
    Value isOff =
        arith::OrIOp::create(f.b, f.less(place.value, f.of(low)), f.less(f.of(high), place.value));
    Number instead = sampler.padding == Padding::Border
                         ? Number{f.clamp(place.value, 0, double(extent - 1)), f.of(0)}
                         : reflected(f, place, low, high);
    place = {f.select(isOff, instead.value, place.value),
             f.select(isOff, instead.slope, place.slope)};
  }
  // Integers below have 32 bits; all pixels are off the line before that.
  place.value = f.clamp(place.value, -3, double(extent + 2));
  return place;
}

/// Keys' kernel and its derivative, a = -0.75, for a pixel `distance` away: within one
/// pixel, or between one and two.
static Number cubicWeight(const Floats &f, Value distance, bool isNear) {
  constexpr double a = -0.75;
  if (isNear)
    return {f.polynomial(distance, {a + 2, -(a + 3), 0, 1}),
            f.polynomial(distance, {3 * (a + 2), -2 * (a + 3), 0})};
  return {f.polynomial(distance, {a, -5 * a, 8 * a, -4 * a}),
          f.polynomial(distance, {3 * a, -10 * a, 8 * a})};
}

/// The weight of pixel `tap` of those around a place `ratio` behind the left one of the
/// two in the middle; the slope is that by `ratio`.
static Number weightOf(const Floats &f, Mode mode, Value ratio, int64_t tap) {
  Value left = f.sub(f.of(1), ratio);
  if (mode == Mode::Nearest)
    return {f.of(1), f.of(0)};
  if (mode == Mode::Linear)
    return tap == 0 ? Number{left, f.of(-1)} : Number{ratio, f.of(1)};
  bool isLeft = tap < 2, isNear = tap == 1 || tap == 2;
  Value distance = isLeft ? ratio : left;
  Number weight = cubicWeight(f, isNear ? distance : f.add(distance, f.of(1)), isNear);
  return {weight.value, isLeft ? weight.slope : f.sub(f.of(0), weight.slope)};
}

static Value integer(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), value);
}

/// The pixel of a line of `extent` pixels that represents pixel `index`, which is at most 4 outside
/// of it.
static Value mirrored(ImplicitLocOpBuilder &b, Value index, int64_t extent, bool alignCorners) {
  int64_t period = alignCorners ? 2 * (extent - 1) : 2 * extent;
  if (period == 0)
    return integer(b, 0);
  int64_t ahead = llvm::alignTo(4, period);
  Value positive = arith::AddIOp::create(b, index, integer(b, ahead));
  Value place = arith::RemUIOp::create(b, positive, integer(b, period));
  Value back = arith::SubIOp::create(b, integer(b, alignCorners ? period : period - 1), place);
  return arith::MinSIOp::create(b, place, back);
}

/// Pixel `index`, or the pixel that represents it if it is outside of the line.
static void bound(ImplicitLocOpBuilder &b, const Sampler &sampler, int64_t extent, LineTap &tap) {
  if (sampler.padding == Padding::Reflection) {
    tap.index = mirrored(b, tap.index, extent, sampler.alignCorners);
    return;
  }
  if (sampler.padding == Padding::Zeros)
    tap.inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, tap.index, integer(b, extent));
  Value atLeast = arith::MaxSIOp::create(b, tap.index, integer(b, 0));
  tap.index = arith::MinSIOp::create(b, atLeast, integer(b, extent - 1));
}

static SmallVector<LineTap> lineTaps(const Floats &f, const Sampler &sampler, int64_t extent,
                                     Value coordinate) {
  Number place = onLine(f, sampler, extent, pixelsOf(f, sampler, extent, coordinate));
  Value left = f.floor(place.value);
  Value ratio = f.sub(place.value, left);
  Value first = arith::FPToSIOp::create(f.b, f.b.getI32Type(), left);
  SmallVector<LineTap> taps;
  for (int64_t i = 0; i < sampler.width(); ++i) {
    int64_t shift = sampler.mode == Mode::Cubic ? i - 1 : i;
    Number weight = weightOf(f, sampler.mode, ratio, i);
    LineTap tap{arith::AddIOp::create(f.b, first, integer(f.b, shift)), weight.value,
                f.mul(weight.slope, place.slope), Value()};
    bound(f.b, sampler, extent, tap);
    taps.push_back(tap);
  }
  return taps;
}

/// `pixel` of an image and `tap` of its next dimension, of `extent`, as one.
static PixelTap joined(const Floats &f, const PixelTap &pixel, const LineTap &tap, int64_t extent,
                       bool wantSlopes) {
  ImplicitLocOpBuilder &b = f.b;
  Value index = arith::IndexCastOp::create(b, b.getIndexType(), tap.index);
  PixelTap both{index, tap.weight, tap.inside, {}};
  if (pixel.offset) {
    Value row = arith::MulIOp::create(b, pixel.offset, arith::ConstantIndexOp::create(b, extent));
    both.offset = arith::AddIOp::create(b, row, index);
    both.weight = f.mul(pixel.weight, tap.weight);
    if (tap.inside)
      both.inside = arith::AndIOp::create(b, pixel.inside, tap.inside);
  }
  if (!wantSlopes)
    return both;
  for (Value slope : pixel.slopes)
    both.slopes.push_back(f.mul(slope, tap.weight));
  both.slopes.push_back(pixel.offset ? f.mul(pixel.weight, tap.slope) : tap.slope);
  return both;
}

SmallVector<PixelTap> pixelTaps(ImplicitLocOpBuilder &b, const Sampler &sampler, ValueRange place,
                                bool wantSlopes) {
  Floats f(b, place.front().getType());
  SmallVector<PixelTap> pixels(1);
  for (auto [extent, coordinate] : llvm::zip_equal(sampler.extents, place)) {
    SmallVector<PixelTap> next;
    SmallVector<LineTap> line = lineTaps(f, sampler, extent, coordinate);
    for (const PixelTap &pixel : pixels)
      for (const LineTap &tap : line)
        next.push_back(joined(f, pixel, tap, extent, wantSlopes));
    pixels = std::move(next);
  }
  return pixels;
}

} // namespace zero::ops
