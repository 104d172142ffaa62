//===- Schedule.h - learning-rate schedules and groups ----------*- C++ -*-===//
// The inputs of the scalars of a step beside the optimizer.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIMIZERS_SCHEDULE_H
#define ZERO_OPTIMIZERS_SCHEDULE_H

#include "zero/Optimizers/Optimizer.h"
#include "zero/Options/Words.h"

#include <optional>

namespace zero {

/// The form of the learning rate after the warm-up.
enum class ScheduleKind { Constant, Linear, Cosine, InverseSqrt };
inline llvm::ArrayRef<Word<ScheduleKind>> wordsOf(ScheduleKind) {
  static constexpr Word<ScheduleKind> words[] = {{ScheduleKind::Constant, "constant"},
                                                 {ScheduleKind::Linear, "linear"},
                                                 {ScheduleKind::Cosine, "cosine"},
                                                 {ScheduleKind::InverseSqrt, "inverse-sqrt"}};
  return words;
}

/// The schedule of the learning rate.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::Constant;
  uint64_t warmupSteps = 0;
  uint64_t totalSteps = 0;
  double minRatio = 0.0; ///< final factor of linear and cosine

  bool isConstant() const { return kind == ScheduleKind::Constant && warmupSteps == 0; }
};

/// An error message for `options`, or an empty string.
std::string checkSchedule(const ScheduleOptions &options);

/// The factor on the learning rate of the step after `steps` (f64) updates, as f64: steps /
/// warmupSteps during the warm-up; then 1, or linearly or by half a cosine down to minRatio at
/// totalSteps, constant from there, or sqrt(warmupSteps / steps).
mlir::Value buildSchedule(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value steps,
                          const ScheduleOptions &options);

/// Parameters with settings of their own. Unset values are those of all other parameters.
struct ParameterGroup {
  std::string pattern; ///< a glob of parameters' names
  std::optional<double> weightDecay;
  double learningRateScale = 1.0;
};

/// A parameter group's optimizer.
struct GroupOptimizer {
  const Optimizer *optimizer;
  double learningRateScale;
};

/// The state that counts the updates of a program with a schedule.
inline constexpr llvm::StringLiteral kUpdateCount = "optimizer.updates";

/// The scalar states of `groups`; those of one name are one.
llvm::SmallVector<ScalarState> scalarStatesOf(llvm::ArrayRef<GroupOptimizer> groups);

/// Adds the kernel `name`: (learning rate f32, scalar states f64...) -> (their next
/// values..., the learning rate of this step f32, each group's scalars f32...). With a schedule
/// that is not constant kUpdateCount comes before the states of `groups`.
mlir::func::FuncOp buildScalarKernel(mlir::ModuleOp module, llvm::ArrayRef<GroupOptimizer> groups,
                                     const ScheduleOptions &schedule, llvm::StringRef name);

/// Parses "pattern:weight-decay=X:lr-scale=Y"; returns null and a message in `error` if the text
/// has another form.
std::optional<ParameterGroup> parseParameterGroup(llvm::StringRef text, std::string &error);

} // namespace zero

#endif // ZERO_OPTIMIZERS_SCHEDULE_H
