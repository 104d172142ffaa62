//===- Schedule.cpp - learning-rate schedules -----------------------------===//
//
// All in f64, from the count of updates so far. The inverse square root is that of
// Vaswani et al., arXiv 1706.03762, section 5.3; the half cosine and its restarts those of
// Loshchilov and Hutter, arXiv 1608.03983, with cycles of one length; wsd and its decay by a root
// those of Hägele et al., arXiv 2405.18392, section 4; the warm-up along a logarithm DeepSpeed's.
//
//===----------------------------------------------------------------------===//

#include "Optimizers.h"

#include "runtime/support/checked.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace zero {

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool hasEnd(const ScheduleOptions &options) {
  return options.kind != ScheduleKind::Constant && options.kind != ScheduleKind::InverseSqrt &&
         options.kind != ScheduleKind::Points;
}

/// The option that has no effect on the kind of schedule; empty if all have one.
static std::string findIdle(const ScheduleOptions &options) {
  struct Setting {
    bool isGiven, hasEffect;
    std::string text;
  };
  const bool ends = hasEnd(options), isStable = options.kind == ScheduleKind::Stable;
  const Setting settings[] = {
      {options.totalSteps != 0, ends, "total-steps=" + std::to_string(options.totalSteps)},
      {options.minRatio != 0, ends, "min-lr-ratio=" + number(options.minRatio)},
      {options.power != 1, options.kind == ScheduleKind::Polynomial,
       "lr-power=" + number(options.power)},
      {options.cycles != 1, options.kind == ScheduleKind::CosineRestarts,
       "lr-cycles=" + std::to_string(options.cycles)},
      {options.decaySteps != 0, isStable, "decay-steps=" + std::to_string(options.decaySteps)},
      {options.decayForm != DecayForm::Linear, isStable,
       "decay-form=" + wordOf(options.decayForm).str()},
      {!options.points.empty(), options.kind == ScheduleKind::Points, "lr-points"},
      {options.warmupSteps != 0, options.kind != ScheduleKind::Points,
       "warmup-steps=" + std::to_string(options.warmupSteps)}};
  for (const Setting &setting : settings)
    if (setting.isGiven && !setting.hasEffect)
      return setting.text + " has no effect with lr-schedule=" + wordOf(options.kind).str();
  return "";
}

static std::string checkWarmup(const ScheduleOptions &options) {
  if (!(options.warmupRatio >= 0 && options.warmupRatio <= 1))
    return "warmup-ratio: expected a part of the learning rate, from 0 to 1, got " +
           number(options.warmupRatio);
  if (options.warmupSteps == 0 && options.warmupForm != WarmupForm::Linear)
    return "warmup-form=" + wordOf(options.warmupForm).str() +
           " has no effect without warmup-steps";
  if (options.warmupSteps == 0 && options.warmupRatio != 0)
    return "warmup-ratio=" + number(options.warmupRatio) + " has no effect without warmup-steps";
  if (options.warmupSteps == 1 && options.warmupForm == WarmupForm::Log)
    return "warmup-steps: expected at least 2 with warmup-form=log, got 1";
  if (options.kind == ScheduleKind::InverseSqrt && options.warmupSteps == 0)
    return "warmup-steps: expected at least 1 with lr-schedule=inverse-sqrt, got 0";
  return "";
}

static std::string checkEnd(const ScheduleOptions &options) {
  const std::string with = " with lr-schedule=" + wordOf(options.kind).str();
  if (options.totalSteps == 0)
    return "total-steps: expected the number of steps" + with + ", got 0";
  if (options.totalSteps <= options.warmupSteps)
    return "total-steps: expected more than warmup-steps=" + std::to_string(options.warmupSteps) +
           with + ", got " + std::to_string(options.totalSteps);
  if (!(options.minRatio >= 0 && options.minRatio <= 1))
    return "min-lr-ratio: expected a part of the learning rate, from 0 to 1, got " +
           number(options.minRatio);
  if (!(options.power > 0))
    return "lr-power: expected a positive number, got " + number(options.power);
  if (options.cycles == 0)
    return "lr-cycles: expected at least 1, got 0";
  const uint64_t left = options.totalSteps - options.warmupSteps;
  if (options.kind == ScheduleKind::Stable &&
      (options.decaySteps == 0 || options.decaySteps > left))
    return "decay-steps: expected 1 to " + std::to_string(left) +
           ", the steps behind the warm-up, got " + std::to_string(options.decaySteps);
  return "";
}

static std::string checkPoints(ArrayRef<SchedulePoint> points) {
  if (points.empty())
    return "lr-points: expected at least one with lr-schedule=points";
  for (auto [left, right] : llvm::zip(points.drop_back(), points.drop_front()))
    if (left.step >= right.step)
      return "lr-points: expected steps in ascending order, got " + std::to_string(left.step) +
             " before " + std::to_string(right.step);
  return "";
}

std::string checkSchedule(const ScheduleOptions &options) {
  if (std::string error = checkWarmup(options); !error.empty())
    return error;
  if (std::string error = findIdle(options); !error.empty())
    return error;
  if (options.kind == ScheduleKind::Points)
    return checkPoints(options.points);
  return hasEnd(options) ? checkEnd(options) : "";
}

std::optional<std::vector<SchedulePoint>> parsePoints(ArrayRef<std::string> texts,
                                                      std::string &error) {
  std::vector<SchedulePoint> points;
  for (StringRef text : texts) {
    auto [step, factor] = text.split(':');
    SchedulePoint point;
    if (!parseInteger(std::string_view(step), point.step) || !parseReal(factor, point.factor) ||
        point.factor < 0) {
      error = "expected STEP:FACTOR, two numbers of at least 0, got '" + text.str() + "'";
      return std::nullopt;
    }
    points.push_back(point);
  }
  return points;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

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

namespace {
/// The factor of one step.
class Schedule {
public:
  Schedule(OpBuilder &builder, Location loc, Value steps, const ScheduleOptions &options)
      : f(builder, loc), builder(builder), loc(loc), steps(steps), options(options) {}

  Value build();

private:
  Value constant(double value) { return f.constant(value, steps.getType()); }
  Value least(Value left, Value right) {
    return arith::MinimumFOp::create(builder, loc, left, right);
  }
  Value most(Value left, Value right) {
    return arith::MaximumFOp::create(builder, loc, left, right);
  }
  /// `then` where left < right.
  Value ifLess(Value left, Value right, Value then, Value otherwise) {
    Value isLess = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, left, right);
    return arith::SelectOp::create(builder, loc, isLess, then, otherwise);
  }
  /// 0 at step `begin`, 1 at `end` and later.
  Value partOf(double begin, double end) {
    Value part = f.div(f.sub(steps, constant(begin)), constant(end - begin));
    return least(most(part, constant(0)), constant(1));
  }
  Value halfCosine(Value part) {
    return f.mul(constant(0.5), f.add(constant(1), buildCosine(f, part)));
  }
  Value power(Value base, double exponent);
  Value warmup();
  Value height(Value part);
  Value decay();
  Value points();

  Formula f;
  OpBuilder &builder;
  Location loc;
  Value steps;
  const ScheduleOptions &options;
};
} // namespace

/// base^exponent, of a base from 0 to 1.
Value Schedule::power(Value base, double exponent) {
  if (exponent == 1)
    return base;
  Value result = math::PowFOp::create(builder, loc, base, constant(exponent));
  return ifLess(constant(0), base, result, constant(0));
}

/// From the first step's factor to 1.
Value Schedule::warmup() {
  Value part = f.div(steps, constant(double(options.warmupSteps)));
  if (options.warmupForm == WarmupForm::Cosine)
    part = f.sub(constant(1), halfCosine(part));
  else if (options.warmupForm == WarmupForm::Log)
    part = f.div(math::LogOp::create(builder, loc, f.add(steps, constant(1))),
                 constant(std::log(double(options.warmupSteps))));
  if (options.warmupRatio == 0)
    return part;
  return f.fma(constant(1 - options.warmupRatio), part, constant(options.warmupRatio));
}

/// The height of a decay from 1 to 0 of which `part` is over.
Value Schedule::height(Value part) {
  switch (options.kind) {
  case ScheduleKind::Cosine:
    return halfCosine(part);
  case ScheduleKind::CosineRestarts: {
    Value cycles = f.mul(constant(double(options.cycles)), part);
    Value whole = arith::FPToSIOp::create(builder, loc, builder.getI64Type(), cycles);
    Value own = f.sub(cycles, arith::SIToFPOp::create(builder, loc, steps.getType(), whole));
    return ifLess(part, constant(1), halfCosine(own), constant(0));
  }
  case ScheduleKind::Stable:
    if (options.decayForm == DecayForm::Cosine)
      return halfCosine(part);
    return f.sub(constant(1), options.decayForm == DecayForm::Sqrt ? f.sqrt(part) : part);
  default:
    return power(f.sub(constant(1), part), options.power);
  }
}

/// Falls from 1 to the smallest ratio, and remains there.
Value Schedule::decay() {
  const double end = double(options.totalSteps);
  const double begin = options.kind == ScheduleKind::Stable ? end - double(options.decaySteps)
                                                            : double(options.warmupSteps);
  return f.fma(constant(1 - options.minRatio), height(partOf(begin, end)),
               constant(options.minRatio));
}

/// Along lines from point to point.
Value Schedule::points() {
  Value factor = constant(options.points.front().factor);
  for (auto [left, right] :
       llvm::zip(ArrayRef(options.points).drop_back(), ArrayRef(options.points).drop_front())) {
    Value part = partOf(double(left.step), double(right.step));
    Value line = f.fma(constant(right.factor - left.factor), part, constant(left.factor));
    factor = ifLess(steps, constant(double(left.step)), factor, line);
  }
  return factor;
}

Value Schedule::build() {
  if (options.kind == ScheduleKind::Points)
    return points();
  Value after = constant(1), end = constant(double(options.warmupSteps));
  if (hasEnd(options))
    after = decay();
  else if (options.kind == ScheduleKind::InverseSqrt)
    after = f.sqrt(f.div(end, most(steps, end)));
  return options.warmupSteps == 0 ? after : ifLess(steps, end, warmup(), after);
}

Value buildSchedule(OpBuilder &builder, Location loc, Value steps, const ScheduleOptions &options) {
  return Schedule(builder, loc, steps, options).build();
}

} // namespace zero
