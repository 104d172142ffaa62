//===- FormulasTest.cpp - optimizers and schedules against doubles --------===//
//
// Compiles each formula as a separate elementwise kernel and compares the result with the formula
// of the paper, computed in double precision.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "dialects/Zero/Zero.h"
#include "zero/Optimizers/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;

namespace {

using Body = llvm::function_ref<void(OpBuilder &, Location, ValueRange, SmallVectorImpl<Value> &)>;

template <typename T>
using Columns = std::vector<std::vector<T>>;

/// Returns the kernel @formula with `numInputs` flat tensors as inputs and `numResults` results.
/// `build` creates its body.
template <typename T>
std::string formula(unsigned numInputs, unsigned numResults, Body build) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                      math::MathDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Type element = builder.getF32Type();
  if constexpr (std::is_same_v<T, double>)
    element = builder.getF64Type();
  auto flat = RankedTensorType::get({ShapedType::kDynamic}, element);
  SmallVector<Type> inputs(numInputs + numResults, flat), results(numResults, flat);
  Location loc = module->getLoc();
  auto kernel =
      func::FuncOp::create(builder, loc, "formula", builder.getFunctionType(inputs, results));
  kernel.setPrivate();
  kernel->setAttr(zero::kKernelAttr, builder.getUnitAttr());
  for (unsigned i = 0; i < numResults; ++i)
    kernel.setArgAttr(numInputs + i, zero::kInplaceAttr, builder.getI64IntegerAttr(i));
  builder.setInsertionPointToEnd(kernel.addEntryBlock());
  SmallVector<Value> ins(kernel.getArguments().take_front(numInputs));
  SmallVector<Value> outs(kernel.getArguments().drop_front(numInputs));
  SmallVector<AffineMap> maps(inputs.size(), builder.getMultiDimIdentityMap(1));
  auto generic = linalg::GenericOp::create(builder, loc, results, ins, outs, maps,
                                           {utils::IteratorType::parallel},
                                           [&](OpBuilder &b, Location l, ValueRange values) {
                                             SmallVector<Value> computed;
                                             build(b, l, values.take_front(numInputs), computed);
                                             linalg::YieldOp::create(b, l, computed);
                                           });
  func::ReturnOp::create(builder, loc, generic.getResults());
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

/// Evaluates the formula on `inputs`, which are columns of the same length.
template <typename T>
Columns<T> evaluate(unsigned numResults, Columns<T> inputs, Body build) {
  Columns<T> results(numResults, std::vector<T>(inputs.front().size()));
  Kernels kernels(formula<T>(inputs.size(), numResults, build));
  EXPECT_TRUE(kernels.ok());
  std::vector<void *> buffers;
  for (Columns<T> *columns : {&inputs, &results})
    for (std::vector<T> &column : *columns)
      buffers.push_back(column.data());
  if (kernels.ok())
    kernels.call("formula", buffers, inputs.front().size());
  return results;
}

std::unique_ptr<zero::Optimizer> create(std::string name, double beta1, double beta2,
                                        double decay) {
  zero::OptimizerOptions options;
  options.name = name;
  options.given["betas"] = {beta1, beta2};
  if (zero::findOptimizer(name)->find("eps"))
    options.given["eps"] = {1e-6};
  options.given["weight-decay"] = {decay};
  std::string error;
  auto optimizer = zero::createOptimizer(options, error);
  EXPECT_TRUE(optimizer) << error;
  return optimizer;
}

/// The scalar states, followed by the scalars of a step.
std::vector<double> scalarsOf(const zero::Optimizer &optimizer, double lr,
                              std::vector<double> states) {
  Columns<double> inputs = {{lr}};
  for (double state : states)
    inputs.push_back({state});
  auto results = evaluate<double>(
      states.size() + optimizer.numScalars(), inputs,
      [&](OpBuilder &b, Location l, ValueRange values, SmallVectorImpl<Value> &computed) {
        optimizer.buildScalars(b, l, values.front(), values.drop_front(), computed);
      });
  std::vector<double> scalars;
  for (const std::vector<double> &column : results)
    scalars.push_back(column.front());
  return scalars;
}

std::vector<float> column(size_t length, double value) {
  return std::vector<float>(length, static_cast<float>(value));
}

//===----------------------------------------------------------------------===//
// Lion
//===----------------------------------------------------------------------===//

TEST(Lion, IsTheSignOfTheMix) {
  const double b1 = 0.9, b2 = 0.99, decay = 0.1, lr = 0.01;
  auto lion = create("lion", b1, b2, decay);
  auto scalars = scalarsOf(*lion, lr, {});
  ASSERT_EQ(scalars.size(), 2u);
  EXPECT_DOUBLE_EQ(scalars[0], 1 - lr * decay);
  EXPECT_DOUBLE_EQ(scalars[1], -lr);
  auto w = numbers(257, 1), m = numbers(257, 2), g = numbers(257, 3);
  auto results = evaluate<float>(2, {w, m, g, column(257, scalars[0]), column(257, scalars[1])},
                                 [&](OpBuilder &b, Location l, ValueRange v,
                                     SmallVectorImpl<Value> &r) { lion->buildUpdate(b, l, v, r); });
  for (size_t i = 0; i < w.size(); ++i) {
    double mix = b1 * m[i] + (1 - b1) * g[i];
    ASSERT_GT(std::abs(mix), 1e-6) << "too near to zero to have a sign";
    EXPECT_NEAR(results[0][i], w[i] - lr * ((mix > 0 ? 1 : -1) + decay * w[i]), 2e-7);
    EXPECT_NEAR(results[1][i], b2 * m[i] + (1 - b2) * g[i], 2e-7);
  }
}

TEST(Lion, ZeroStandsStillAndNaNIsNotLost) {
  auto lion = create("lion", 0.9, 0.99, 0);
  float nan = std::numeric_limits<float>::quiet_NaN();
  auto results = evaluate<float>(2, {{0.5f, 0.5f}, {0, 0}, {0, nan}, {1, 1}, {-0.1f, -0.1f}},
                                 [&](OpBuilder &b, Location l, ValueRange v,
                                     SmallVectorImpl<Value> &r) { lion->buildUpdate(b, l, v, r); });
  EXPECT_EQ(results[0][0], 0.5f);
  EXPECT_TRUE(std::isnan(results[0][1]));
  EXPECT_TRUE(std::isnan(results[1][1]));
}

//===----------------------------------------------------------------------===//
// LAMB
//===----------------------------------------------------------------------===//

TEST(Lamb, DirectionIsAdamsPlusTheDecay) {
  const double b1 = 0.8, b2 = 0.98, decay = 0.1, lr = 0.01, eps = 1e-6;
  auto lamb = create("lamb", b1, b2, decay);
  ASSERT_TRUE(lamb->isLayerwise());
  // This is the third step, so the stored powers are those after two steps.
  auto scalars = scalarsOf(*lamb, lr, {b1 * b1, b2 * b2});
  ASSERT_EQ(scalars.size(), 5u);
  const double power1 = b1 * b1 * b1, power2 = b2 * b2 * b2;
  EXPECT_DOUBLE_EQ(scalars[0], power1);
  EXPECT_DOUBLE_EQ(scalars[1], power2);
  EXPECT_DOUBLE_EQ(scalars[2], -lr);
  EXPECT_DOUBLE_EQ(scalars[3], 1 / (1 - power1));
  EXPECT_DOUBLE_EQ(scalars[4], std::sqrt(1 - power2));

  auto w = numbers(257, 1), m = numbers(257, 2), v = numbers(257, 3), g = numbers(257, 4);
  for (float &value : v)
    value = std::abs(value);
  std::vector<float> rest[3];
  for (int i = 0; i < 3; ++i)
    rest[i] = column(257, scalars[2 + i]);
  auto states = evaluate<float>(2, {w, m, v, g, rest[0], rest[1], rest[2]},
                                [&](OpBuilder &b, Location l, ValueRange o,
                                    SmallVectorImpl<Value> &r) { lamb->buildStates(b, l, o, r); });
  auto directions =
      evaluate<float>(1, {w, states[0], states[1], rest[0], rest[1], rest[2]},
                      [&](OpBuilder &b, Location l, ValueRange o, SmallVectorImpl<Value> &r) {
                        r.push_back(lamb->buildDirection(b, l, o));
                      });
  for (size_t i = 0; i < w.size(); ++i) {
    double nextM = b1 * m[i] + (1 - b1) * g[i], nextV = b2 * v[i] + (1 - b2) * g[i] * g[i];
    EXPECT_NEAR(states[0][i], nextM, 2e-7);
    EXPECT_NEAR(states[1][i], nextV, 2e-7);
    double adam = nextM / (1 - power1) / (std::sqrt(nextV / (1 - power2)) + eps);
    EXPECT_NEAR(directions[0][i], adam + decay * w[i], 1e-6 * (1 + std::abs(adam)));
  }
}

//===----------------------------------------------------------------------===//
// Adafactor
//===----------------------------------------------------------------------===//

TEST(Adafactor, RateIsAtMostTheRootOfTheUpdates) {
  zero::OptimizerOptions options{"adafactor"};
  EXPECT_EQ(options.parse("beta2-decay=-0.7 weight-decay=0.1"), "");
  std::string error;
  auto adafactor = zero::createOptimizer(options, error);
  ASSERT_TRUE(adafactor) << error;
  const double lr = 0.3;
  for (double updates : {0.0, 1.0, 10.0, 11.0, 1000.0}) {
    auto scalars = scalarsOf(*adafactor, lr, {updates});
    ASSERT_EQ(scalars.size(), 4u);
    EXPECT_EQ(scalars[0], updates + 1);
    EXPECT_DOUBLE_EQ(scalars[1], 1 - lr * 0.1);
    EXPECT_DOUBLE_EQ(scalars[2], std::pow(updates + 1, -0.7));
    EXPECT_DOUBLE_EQ(scalars[3], -std::min(lr, 1 / std::sqrt(updates + 1)));
  }
}

TEST(Adafactor, KeepsRowsAndColumns) {
  std::string error;
  auto adafactor = zero::createOptimizer({"adafactor"}, error);
  auto shapes = [&](ArrayRef<int64_t> shape) {
    std::string text;
    for (const zero::TensorState &state : adafactor->tensorStates(shape)) {
      text += state.suffix;
      for (int64_t size : state.shape)
        text += " " + std::to_string(size);
      text += ";";
    }
    return text;
  };
  EXPECT_EQ(shapes({}), "variance;");
  EXPECT_EQ(shapes({5}), "variance 5;");
  EXPECT_EQ(shapes({2, 3}), "row_var 2;col_var 3;");
  EXPECT_EQ(shapes({2, 3, 4, 5}), "row_var 2 3 4;col_var 2 3 5;");
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

zero::ScheduleOptions schedule(StringRef kind, uint64_t warmup, uint64_t total = 0,
                               double minRatio = 0) {
  return {*zero::WordsOf<zero::ScheduleKind>::parse(kind), warmup, total, minRatio};
}

using Change = void (*)(zero::ScheduleOptions &);
zero::ScheduleOptions changed(zero::ScheduleOptions options, Change change) {
  change(options);
  return options;
}

double halfCosine(double part) { return (1 + std::cos(std::acos(-1.0) * part)) / 2; }

double expectedRise(const zero::ScheduleOptions &options, double steps) {
  double part = steps / options.warmupSteps;
  if (options.warmupForm == zero::WarmupForm::Cosine)
    part = 1 - halfCosine(part);
  if (options.warmupForm == zero::WarmupForm::Log)
    part = std::log(steps + 1) / std::log(options.warmupSteps);
  return options.warmupRatio + (1 - options.warmupRatio) * part;
}

double expectedHeight(const zero::ScheduleOptions &options, double steps) {
  const double begin = options.kind == zero::ScheduleKind::Stable
                           ? options.totalSteps - options.decaySteps
                           : options.warmupSteps;
  const double part = std::max(0.0, std::min(1.0, (steps - begin) / (options.totalSteps - begin)));
  switch (options.kind) {
  case zero::ScheduleKind::Cosine:
    return halfCosine(part);
  case zero::ScheduleKind::CosineRestarts:
    return part < 1 ? halfCosine(std::fmod(options.cycles * part, 1.0)) : 0;
  case zero::ScheduleKind::Polynomial:
    return std::pow(1 - part, options.power);
  case zero::ScheduleKind::Stable:
    return options.decayForm == zero::DecayForm::Cosine ? halfCosine(part)
           : options.decayForm == zero::DecayForm::Sqrt ? 1 - std::sqrt(part)
                                                        : 1 - part;
  default:
    return 1 - part;
  }
}

double expectedLine(const std::vector<zero::SchedulePoint> &points, double steps) {
  if (steps <= points.front().step)
    return points.front().factor;
  for (size_t i = 1; i < points.size(); ++i)
    if (steps < points[i].step)
      return points[i - 1].factor + (points[i].factor - points[i - 1].factor) *
                                        (steps - points[i - 1].step) /
                                        (points[i].step - points[i - 1].step);
  return points.back().factor;
}

double expectedFactor(const zero::ScheduleOptions &options, double steps) {
  if (options.kind == zero::ScheduleKind::Points)
    return expectedLine(options.points, steps);
  if (steps < options.warmupSteps)
    return expectedRise(options, steps);
  if (options.kind == zero::ScheduleKind::Constant)
    return 1;
  if (options.kind == zero::ScheduleKind::InverseSqrt)
    return std::sqrt(options.warmupSteps / steps);
  return options.minRatio + (1 - options.minRatio) * expectedHeight(options, steps);
}

class Schedule : public testing::TestWithParam<zero::ScheduleOptions> {};

TEST_P(Schedule, IsAsDocumentedAtEveryStep) {
  const zero::ScheduleOptions &options = GetParam();
  ASSERT_EQ(zero::checkSchedule(options), "");
  std::vector<double> steps;
  for (int step = 0; step < 1200; ++step)
    steps.push_back(step);
  auto factors = evaluate<double>(
      1, {steps}, [&](OpBuilder &b, Location l, ValueRange v, SmallVectorImpl<Value> &r) {
        r.push_back(zero::buildSchedule(b, l, v.front(), options));
      });
  for (double step : steps)
    ASSERT_NEAR(factors[0][step], expectedFactor(options, step), 1e-15) << "step " << step;
}

INSTANTIATE_TEST_SUITE_P(
    All, Schedule,
    testing::Values(
        schedule("constant", 0), schedule("constant", 10), schedule("linear", 0, 1000),
        schedule("linear", 100, 1000, 0.1), schedule("cosine", 0, 1000),
        schedule("cosine", 100, 1001), schedule("cosine", 1, 2, 0.25), schedule("inverse-sqrt", 1),
        schedule("inverse-sqrt", 400),
        changed(schedule("constant", 100),
                [](zero::ScheduleOptions &o) { o.warmupForm = zero::WarmupForm::Log; }),
        changed(schedule("constant", 2),
                [](zero::ScheduleOptions &o) { o.warmupForm = zero::WarmupForm::Log; }),
        changed(schedule("cosine", 300, 1100, 4e-6),
                [](zero::ScheduleOptions &o) { // torch's OneCycleLR
                  o.warmupForm = zero::WarmupForm::Cosine;
                  o.warmupRatio = 0.04;
                }),
        changed(schedule("cosine-restarts", 7, 1000, 0.1),
                [](zero::ScheduleOptions &o) { o.cycles = 3; }),
        changed(schedule("polynomial", 10, 1000, 0.01),
                [](zero::ScheduleOptions &o) { o.power = 2.5; }),
        changed(schedule("polynomial", 0, 1000), [](zero::ScheduleOptions &o) { o.power = 0.5; }),
        changed(schedule("wsd", 100, 1000), [](zero::ScheduleOptions &o) { o.decaySteps = 200; }),
        changed(schedule("wsd", 0, 1000, 0.1),
                [](zero::ScheduleOptions &o) {
                  o.decaySteps = 1000;
                  o.decayForm = zero::DecayForm::Sqrt;
                }),
        changed(schedule("wsd", 1, 1000),
                [](zero::ScheduleOptions &o) {
                  o.decaySteps = 1;
                  o.decayForm = zero::DecayForm::Cosine;
                }),
        changed(schedule("points", 0), [](zero::ScheduleOptions &o) {
          o.points = {{10, 0.5}, {100, 1}, {101, 0.25}, {1000, 0}};
        })));

TEST(CheckSchedule, NamesKeyAndValue) {
  EXPECT_EQ(zero::checkWord<zero::ScheduleKind>("step"),
            "expected constant, linear, cosine, cosine-restarts, polynomial, wsd, inverse-sqrt or "
            "points, got 'step'");
  EXPECT_EQ(zero::checkSchedule(schedule("linear", 10)),
            "total-steps: expected the number of steps with lr-schedule=linear, got 0");
  EXPECT_EQ(zero::checkSchedule(schedule("cosine", 10, 10)),
            "total-steps: expected more than warmup-steps=10 with lr-schedule=cosine, got 10");
  EXPECT_EQ(zero::checkSchedule(schedule("cosine", 1, 10, -0.5)),
            "min-lr-ratio: expected a part of the learning rate, from 0 to 1, got -0.5");
  EXPECT_EQ(zero::checkSchedule(schedule("linear", 1, 10, 1.5)),
            "min-lr-ratio: expected a part of the learning rate, from 0 to 1, got 1.5");
  EXPECT_EQ(zero::checkSchedule(schedule("inverse-sqrt", 0)),
            "warmup-steps: expected at least 1 with lr-schedule=inverse-sqrt, got 0");
  auto check = [](zero::ScheduleOptions options, Change change) {
    return zero::checkSchedule(changed(options, change));
  };
  EXPECT_EQ(zero::checkSchedule(schedule("wsd", 10, 100)),
            "decay-steps: expected 1 to 90, the steps behind the warm-up, got 0");
  EXPECT_EQ(zero::checkSchedule(schedule("points", 0)),
            "lr-points: expected at least one with lr-schedule=points");
  EXPECT_EQ(check(schedule("points", 0), [](auto &o) { o.points = {{5, 1}, {5, 0}}; }),
            "lr-points: expected steps in ascending order, got 5 before 5");
  EXPECT_EQ(check(schedule("linear", 0, 9), [](auto &o) { o.power = 2; }),
            "lr-power=2 has no effect with lr-schedule=linear");
  EXPECT_EQ(check(schedule("polynomial", 0, 9), [](auto &o) { o.power = 0; }),
            "lr-power: expected a positive number, got 0");
  EXPECT_EQ(check(schedule("linear", 0, 9), [](auto &o) { o.warmupForm = zero::WarmupForm::Log; }),
            "warmup-form=log has no effect without warmup-steps");
  EXPECT_EQ(check(schedule("linear", 1, 9), [](auto &o) { o.warmupForm = zero::WarmupForm::Log; }),
            "warmup-steps: expected at least 2 with warmup-form=log, got 1");
  EXPECT_EQ(check(schedule("linear", 1, 9), [](auto &o) { o.warmupRatio = 1.5; }),
            "warmup-ratio: expected a part of the learning rate, from 0 to 1, got 1.5");
  EXPECT_EQ(zero::checkSchedule(schedule("constant", 0, 10)),
            "total-steps=10 has no effect with lr-schedule=constant");
  EXPECT_EQ(zero::checkSchedule(schedule("inverse-sqrt", 1, 0, 0.1)),
            "min-lr-ratio=0.1 has no effect with lr-schedule=inverse-sqrt");
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

TEST(ParameterGroup, IsAPatternAndSettings) {
  std::string error;
  auto group = zero::parseParameterGroup("*.bias:weight-decay=0:lr-scale=0.5", error);
  ASSERT_TRUE(group) << error;
  EXPECT_EQ(group->pattern, "*.bias");
  EXPECT_EQ(group->weightDecay, 0.0);
  EXPECT_EQ(group->learningRateScale, 0.5);
  group = zero::parseParameterGroup("head:0/w:lr-scale=2", error);
  ASSERT_TRUE(group) << error;
  EXPECT_EQ(group->pattern, "head:0/w") << "a name may hold colons";
  EXPECT_FALSE(group->weightDecay);
  EXPECT_EQ(group->learningRateScale, 2.0);
  EXPECT_FALSE(group->schedule);
}

TEST(ParameterGroup, MayHaveASchedule) {
  std::string error;
  auto group = zero::parseParameterGroup(
      "head:lr-schedule=linear:warmup-steps=2:total-steps=10:min-lr-ratio=0.1", error);
  ASSERT_TRUE(group && group->schedule) << error;
  EXPECT_EQ(group->schedule->kind, zero::ScheduleKind::Linear);
  EXPECT_EQ(group->schedule->warmupSteps, 2u);
  EXPECT_EQ(group->schedule->totalSteps, 10u);
  EXPECT_EQ(group->schedule->minRatio, 0.1);
}

TEST(ParameterGroup, RefusesByName) {
  auto refused = [](StringRef text) {
    std::string error;
    EXPECT_FALSE(zero::parseParameterGroup(text, error)) << text.str();
    return error;
  };
  const std::string form =
      "expected PATTERN:weight-decay=X:lr-scale=Y, one of the two, or settings "
      "of a schedule, got ";
  EXPECT_EQ(refused("*.bias"), form + "'*.bias'");
  EXPECT_EQ(refused(":lr-scale=1"), form + "':lr-scale=1'");
  EXPECT_EQ(refused("w:lr-scale=1:decay=2"),
            "'w:lr-scale=1:decay=2': expected weight-decay, lr-scale, lr-schedule, warmup-steps, "
            "warmup-form, warmup-ratio, total-steps, min-lr-ratio, lr-power, lr-cycles, "
            "decay-steps or decay-form, '=' and a value, got 'decay=2'");
  EXPECT_EQ(refused("w:lr-scale=1:lr-scale=2"),
            "'w:lr-scale=1:lr-scale=2': 'lr-scale' is given twice");
  EXPECT_EQ(refused("w:weight-decay=-1"),
            "'w:weight-decay=-1': weight-decay: expected a number >= 0, got '-1'");
  EXPECT_EQ(refused("w:lr-scale=fast"),
            "'w:lr-scale=fast': lr-scale: expected a number >= 0, got 'fast'");
  EXPECT_EQ(refused("w:lr-schedule=fast").substr(0, 48),
            "'w:lr-schedule=fast': lr-schedule: expected cons");
  EXPECT_EQ(refused("w:lr-schedule=linear"),
            "'w:lr-schedule=linear': total-steps: expected the number of steps with "
            "lr-schedule=linear, got 0");
  EXPECT_EQ(refused("[:lr-scale=1").substr(0, 16), "'[:lr-scale=1': ");
}

} // namespace
