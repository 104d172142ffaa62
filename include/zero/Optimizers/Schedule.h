//===- Schedule.h - learning-rate schedules and groups ----------*- C++ -*-===//
// The inputs of the scalars of a step beside the optimizer.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIMIZERS_SCHEDULE_H
#define ZERO_OPTIMIZERS_SCHEDULE_H

#include "zero/Optimizers/Optimizer.h"
#include "zero/Options/Words.h"

#include <optional>
#include <vector>

namespace zero {

/// The form of the learning rate after the warm-up.
enum class ScheduleKind {
  Constant,
  Linear,
  Cosine,
  CosineRestarts,
  Polynomial,
  Stable, ///< constant, and a decay at the end
  InverseSqrt,
  Points ///< a list of steps and factors
};
inline llvm::ArrayRef<Word<ScheduleKind>> wordsOf(ScheduleKind) {
  static constexpr Word<ScheduleKind> words[] = {{ScheduleKind::Constant, "constant"},
                                                 {ScheduleKind::Linear, "linear"},
                                                 {ScheduleKind::Cosine, "cosine"},
                                                 {ScheduleKind::CosineRestarts, "cosine-restarts"},
                                                 {ScheduleKind::Polynomial, "polynomial"},
                                                 {ScheduleKind::Stable, "wsd"},
                                                 {ScheduleKind::InverseSqrt, "inverse-sqrt"},
                                                 {ScheduleKind::Points, "points"}};
  return words;
}

/// How the learning rate rises during the warm-up.
enum class WarmupForm { Linear, Log, Cosine };
inline llvm::ArrayRef<Word<WarmupForm>> wordsOf(WarmupForm) {
  static constexpr Word<WarmupForm> words[] = {
      {WarmupForm::Linear, "linear"}, {WarmupForm::Log, "log"}, {WarmupForm::Cosine, "cosine"}};
  return words;
}

/// How it falls at the end of `wsd`.
enum class DecayForm { Linear, Cosine, Sqrt };
inline llvm::ArrayRef<Word<DecayForm>> wordsOf(DecayForm) {
  static constexpr Word<DecayForm> words[] = {
      {DecayForm::Linear, "linear"}, {DecayForm::Cosine, "cosine"}, {DecayForm::Sqrt, "sqrt"}};
  return words;
}

/// The factor after so many updates.
struct SchedulePoint {
  uint64_t step;
  double factor;
};

/// The schedule of the learning rate.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::Constant;
  uint64_t warmupSteps = 0;
  uint64_t totalSteps = 0;
  double minRatio = 0.0; ///< the final factor
  WarmupForm warmupForm = WarmupForm::Linear;
  double warmupRatio = 0.0; ///< the factor of the first step
  double power = 1.0;       ///< of polynomial
  uint64_t cycles = 1;      ///< of cosine-restarts
  uint64_t decaySteps = 0;  ///< of wsd
  DecayForm decayForm = DecayForm::Linear;
  std::vector<SchedulePoint> points;

  bool isConstant() const { return kind == ScheduleKind::Constant && warmupSteps == 0; }
};

/// Parses points "step:factor"; returns null and a message in `error` if a text has another form.
std::optional<std::vector<SchedulePoint>> parsePoints(llvm::ArrayRef<std::string> texts,
                                                      std::string &error);

/// An error message for `options`, or an empty string.
std::string checkSchedule(const ScheduleOptions &options);

/// The factor on the learning rate of the step after `steps` (f64) updates, as f64: from
/// warmupRatio to 1 during the warm-up; then 1, or down to minRatio at totalSteps and constant from
/// there, or sqrt(warmupSteps / steps); or between points.
mlir::Value buildSchedule(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value steps,
                          const ScheduleOptions &options);

/// Parameters with settings of their own. Unset values are those of all other parameters.
struct ParameterGroup {
  std::string pattern; ///< a glob of parameters' names
  std::optional<double> weightDecay;
  double learningRateScale = 1.0;
  std::optional<ScheduleOptions> schedule = {};
};

/// A parameter group's optimizer.
struct GroupOptimizer {
  const Optimizer *optimizer;
  double learningRateScale;
  const ScheduleOptions *schedule = nullptr; ///< null: that of the program
};

/// The state that counts the updates of a program with a schedule.
inline constexpr llvm::StringLiteral kUpdateCount = "optimizer.updates";
/// Whether the learning rate of the program, with `schedule`, or of one of `groups` changes.
bool countsUpdates(llvm::ArrayRef<GroupOptimizer> groups, const ScheduleOptions &schedule);

/// The scalar states of `groups`; those of one name are one.
llvm::SmallVector<ScalarState> scalarStatesOf(llvm::ArrayRef<GroupOptimizer> groups);

/// Adds the kernel `name`: (learning rate f32, scalar states f64...) -> (their next
/// values..., the learning rate of this step f32, each group's scalars f32...). The learning rate
/// follows `schedule`, and that of a group its own, if it has one. If updates are counted,
/// kUpdateCount comes before the states of `groups`.
mlir::func::FuncOp buildScalarKernel(mlir::ModuleOp module, llvm::ArrayRef<GroupOptimizer> groups,
                                     const ScheduleOptions &schedule, llvm::StringRef name);

/// Parses "pattern:weight-decay=X:lr-scale=Y", also with settings of a schedule, such as
/// "lr-schedule=linear:total-steps=100"; returns null and a message in `error` if the text
/// has another form.
std::optional<ParameterGroup> parseParameterGroup(llvm::StringRef text, std::string &error);

} // namespace zero

#endif // ZERO_OPTIMIZERS_SCHEDULE_H
