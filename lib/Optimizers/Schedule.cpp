//===- Schedule.cpp - learning-rate schedules -----------------------------===//
//
// All in f64, from the count of updates so far. The inverse square root is that of
// Vaswani et al., arXiv 1706.03762, section 5.3; the half cosine that of Loshchilov and
// Hutter, arXiv 1608.03983, without restarts.
//
//===----------------------------------------------------------------------===//

#include "Optimizers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero {

static bool hasEnd(const ScheduleOptions &options) {
  return options.kind == ScheduleKind::Linear || options.kind == ScheduleKind::Cosine;
}

/// The option that has no effect on the kind of schedule; empty if all have one.
static std::string findIdle(const ScheduleOptions &options) {
  std::string without = " has no effect with lr-schedule=" + wordOf(options.kind).str();
  if (options.totalSteps != 0)
    return "total-steps=" + std::to_string(options.totalSteps) + without;
  if (options.minRatio != 0)
    return "min-lr-ratio=" + number(options.minRatio) + without;
  return "";
}

std::string checkSchedule(const ScheduleOptions &options) {
  std::string with = " with lr-schedule=" + wordOf(options.kind).str();
  bool isInverse = options.kind == ScheduleKind::InverseSqrt;
  if (!hasEnd(options)) {
    if (isInverse && options.warmupSteps == 0)
      return "warmup-steps: expected at least 1" + with + ", got 0";
    return findIdle(options);
  }
  if (options.totalSteps == 0)
    return "total-steps: expected the number of steps" + with + ", got 0";
  if (options.totalSteps <= options.warmupSteps)
    return "total-steps: expected more than warmup-steps=" + std::to_string(options.warmupSteps) +
           with + ", got " + std::to_string(options.totalSteps);
  if (!(options.minRatio >= 0 && options.minRatio <= 1))
    return "min-lr-ratio: expected a part of the learning rate, from 0 to 1, got " +
           number(options.minRatio);
  return "";
}

/// cos(pi * part) for a part of 0 to 1, as the sine of the angle's complement: Taylor's
/// series to the 21st power, whose remainder at pi / 2 is below 2e-18.
static Value buildCosine(Formula &f, Value part) {
  Type f64 = part.getType();
  double pi = llvm::numbers::pi;
  Value angle = f.mul(f.sub(f.constant(0.5, f64), part), f.constant(pi, f64));
  Value square = f.mul(angle, angle);
  double coefficients[11] = {1.0};
  for (int k = 1; k < 11; ++k)
    coefficients[k] = -coefficients[k - 1] / (2 * k * (2 * k + 1));
  Value sum = f.constant(coefficients[10], f64);
  for (int k = 9; k >= 0; --k)
    sum = f.fma(sum, square, f.constant(coefficients[k], f64));
  return f.mul(angle, sum);
}

/// Falls from 1 at the end of the warm-up to the smallest ratio, and remains there.
static Value buildDecay(OpBuilder &builder, Location loc, Value steps,
                        const ScheduleOptions &options) {
  Formula f(builder, loc);
  Type f64 = steps.getType();
  Value one = f.constant(1.0, f64);
  double length = static_cast<double>(options.totalSteps - options.warmupSteps);
  Value gone = f.sub(steps, f.constant(static_cast<double>(options.warmupSteps), f64));
  Value part = f.div(gone, f.constant(length, f64));
  part = arith::MaximumFOp::create(builder, loc, part, f.constant(0.0, f64));
  part = arith::MinimumFOp::create(builder, loc, part, one);
  Value height = f.sub(one, part);
  if (options.kind == ScheduleKind::Cosine)
    height = f.mul(f.constant(0.5, f64), f.add(one, buildCosine(f, part)));
  return f.fma(f.constant(1 - options.minRatio, f64), height, f.constant(options.minRatio, f64));
}

Value buildSchedule(OpBuilder &builder, Location loc, Value steps, const ScheduleOptions &options) {
  Formula f(builder, loc);
  Type f64 = steps.getType();
  Value warmup = f.constant(static_cast<double>(options.warmupSteps), f64);
  Value after = f.constant(1.0, f64);
  if (hasEnd(options))
    after = buildDecay(builder, loc, steps, options);
  else if (options.kind == ScheduleKind::InverseSqrt)
    after = f.sqrt(f.div(warmup, arith::MaximumFOp::create(builder, loc, steps, warmup)));
  if (options.warmupSteps == 0)
    return after;
  Value isEarly = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, steps, warmup);
  return arith::SelectOp::create(builder, loc, isEarly, f.div(steps, warmup), after);
}

} // namespace zero
