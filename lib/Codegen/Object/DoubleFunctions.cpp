//===- DoubleFunctions.cpp - exp and log of doubles for GPUs --------------===//
//
// A GPU has no C library, and MLIR's polynomials are for floats. Scalars of optimizers need powers
// of doubles, which are exp(b * log(a)). Both functions reduce their argument to an interval around
// 0 or 1 and sum a Taylor series until its next term is below 2^-54 of the sum. Only arithmetic is
// used that is rounded alike everywhere.
//
//===----------------------------------------------------------------------===//

#include "LowerToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

using namespace mlir;

namespace zero {

namespace {

// ln 2 in two parts. The product of the first one and an exponent is exact.
constexpr double kLog2High = 0x1.62e42fee00000p-1, kLog2Low = 0x1.a39ef35793c76p-33;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
constexpr int64_t kBias = 1023, kFractionBits = 52;

/// Builds arithmetic of doubles and of 64-bit integers.
class Doubles : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  Value number(double value) { return arith::ConstantOp::create(*this, getF64FloatAttr(value)); }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
  }
  Value add(Value a, Value b) { return arith::AddFOp::create(*this, a, b); }
  Value subtract(Value a, Value b) { return arith::SubFOp::create(*this, a, b); }
  Value multiply(Value a, Value b) { return arith::MulFOp::create(*this, a, b); }
  Value divide(Value a, Value b) { return arith::DivFOp::create(*this, a, b); }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(*this, condition, a, b);
  }
  Value compare(arith::CmpFPredicate how, Value a, double b) {
    return arith::CmpFOp::create(*this, how, a, number(b));
  }
  Value bits(Value value) { return arith::BitcastOp::create(*this, getI64Type(), value); }
  Value fromBits(Value value) { return arith::BitcastOp::create(*this, getF64Type(), value); }

  /// The sum of coefficients[i] * x^i.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double coefficient : reverse(coefficients.drop_back()))
      sum = add(multiply(sum, x), number(coefficient));
    return sum;
  }

  /// 2^exponent of a normal number.
  Value power(Value exponent) {
    Value biased = arith::AddIOp::create(*this, exponent, integer(kBias));
    return fromBits(arith::ShLIOp::create(*this, biased, integer(kFractionBits)));
  }
};

} // namespace

/// exp(x) = 2^n exp(r) with r = x - n ln 2 in [-0.35, 0.35]. 2^n is two factors: it may be below
/// the normal numbers, or beyond all, where the result is not.
static Value expand(Doubles &b, math::ExpOp op) {
  using arith::CmpFPredicate;
  // Beyond these the result is infinite or 0.
  constexpr double kLeast = -746, kMost = 710;
  Value given = op.getOperand();
  Value x = b.select(b.compare(CmpFPredicate::OGT, given, kLeast), given, b.number(kLeast));
  x = b.select(b.compare(CmpFPredicate::OLT, x, kMost), x, b.number(kMost));
  // Adding and subtracting 1.5 * 2^52 rounds to the nearest integer.
  Value large = b.number(0x1.8p52);
  Value rounded =
      b.subtract(b.add(b.multiply(x, b.number(1 / (kLog2High + kLog2Low))), large), large);
  Value rest = b.subtract(x, b.multiply(rounded, b.number(kLog2High)));
  rest = b.subtract(rest, b.multiply(rounded, b.number(kLog2Low)));
  SmallVector<double> coefficients = {1};
  for (int i = 1; i <= 14; ++i)
    coefficients.push_back(coefficients.back() / i);
  Value exponent = arith::FPToSIOp::create(b, b.getI64Type(), rounded);
  Value half = arith::ShRSIOp::create(b, exponent, b.integer(1));
  Value other = arith::SubIOp::create(b, exponent, half);
  Value result =
      b.multiply(b.multiply(b.polynomial(rest, coefficients), b.power(half)), b.power(other));
  return b.select(b.compare(CmpFPredicate::UNO, given, 0), given, result);
}

/// log(x) = e ln 2 + log(m) with m = x / 2^e in [0.7, 1.42], and with s = (m - 1) / (m + 1) log(m)
/// is 2 s + 2 s^3 / 3 + 2 s^5 / 5 + ...
static Value expand(Doubles &b, math::LogOp op) {
  using arith::CmpFPredicate;
  Value given = op.getOperand();
  // Makes normal numbers of those that are not.
  Value tiny = b.compare(CmpFPredicate::OLT, given, 0x1p-1022);
  Value x = b.select(tiny, b.multiply(given, b.number(0x1p54)), given);
  Value bits = b.bits(x);
  Value exponent = arith::ShRUIOp::create(b, bits, b.integer(kFractionBits));
  exponent =
      arith::SubIOp::create(b, exponent, b.select(tiny, b.integer(kBias + 54), b.integer(kBias)));
  Value fraction = arith::AndIOp::create(b, bits, b.integer((int64_t(1) << kFractionBits) - 1));
  Value m = b.fromBits(arith::OrIOp::create(b, fraction, b.integer(kBias << kFractionBits)));
  Value isLarge = b.compare(CmpFPredicate::OGT, m, kSqrt2);
  m = b.select(isLarge, b.multiply(m, b.number(0.5)), m);
  exponent = arith::AddIOp::create(b, exponent, b.select(isLarge, b.integer(1), b.integer(0)));
  Value e = arith::SIToFPOp::create(b, b.getF64Type(), exponent);
  Value f = b.subtract(m, b.number(1)), s = b.divide(f, b.add(m, b.number(1)));
  SmallVector<double> coefficients;
  for (int i = 1; i <= 10; ++i)
    coefficients.push_back(2.0 / (2 * i + 1));
  // 2 s = f - s f, in which only the small second term is rounded.
  Value square = b.multiply(s, s);
  Value tail = b.multiply(b.multiply(s, square), b.polynomial(square, coefficients));
  Value small = b.add(b.subtract(tail, b.multiply(s, f)), b.multiply(e, b.number(kLog2Low)));
  Value result = b.add(b.add(f, small), b.multiply(e, b.number(kLog2High)));
  result = b.select(b.compare(CmpFPredicate::OEQ, given, 0), b.number(-INFINITY), result);
  result = b.select(b.compare(CmpFPredicate::OLT, given, 0), b.number(NAN), result);
  // Infinity and what is no number.
  Value isFinite = b.compare(CmpFPredicate::OLT, given, INFINITY);
  return b.select(isFinite, result, given);
}

template <typename Op>
static LogicalResult expandDouble(Op op, PatternRewriter &rewriter) {
  if (!op.getType().isF64())
    return failure();
  Doubles builder(op.getLoc(), rewriter);
  rewriter.replaceOp(op, expand(builder, op));
  return success();
}

void expandDoubleFunctions(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add(expandDouble<math::ExpOp>);
  patterns.add(expandDouble<math::LogOp>);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(module, std::move(patterns), config);
}

} // namespace zero
