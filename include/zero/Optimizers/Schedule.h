//===- Schedule.h - learning rates, and groups of parameters ----*- C++ -*-===//
//
// What the scalars of a step are made of beside the optimizer.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIMIZERS_SCHEDULE_H
#define ZERO_OPTIMIZERS_SCHEDULE_H

#include "zero/Optimizers/Optimizer.h"
#include "zero/Options/Words.h"

#include <optional>

namespace zero {

/// How the learning rate goes on after the warm-up.
enum class ScheduleKind { Constant, Linear, Cosine, InverseSqrt };
inline llvm::ArrayRef<Word<ScheduleKind>> wordsOf(ScheduleKind) {
  static constexpr Word<ScheduleKind> words[] = {{ScheduleKind::Constant, "constant"},
                                                 {ScheduleKind::Linear, "linear"},
                                                 {ScheduleKind::Cosine, "cosine"},
                                                 {ScheduleKind::InverseSqrt, "inverse-sqrt"}};
  return words;
}

/// How the learning rate goes on from step to step.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::Constant;
  uint64_t warmupSteps = 0;
  uint64_t totalSteps = 0;
  double minRatio = 0.0; ///< where linear and cosine end

  bool isConstant() const { return kind == ScheduleKind::Constant && warmupSteps == 0; }
};

/// What is wrong with `options`, or nothing.
std::string checkSchedule(const ScheduleOptions &options);

/// The factor on the learning rate of the step after `steps` (f64) updates, as f64:
/// steps / warmupSteps during the warm-up; then 1, or linearly or by half a cosine
/// down to minRatio at totalSteps, where it stays, or sqrt(warmupSteps / steps).
mlir::Value buildSchedule(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value steps,
                          const ScheduleOptions &options);

/// Parameters that are treated differently. What is not set is as for all others.
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

/// Adds the kernel `name`: (learning rate f32, scalar states f64...) -> (their next
/// values..., the learning rate of this step f32, each group's scalars f32...). All
/// groups have the same scalar states; with a schedule that is not constant kUpdateCount
/// comes before them.
mlir::func::FuncOp buildScalarKernel(mlir::ModuleOp module, llvm::ArrayRef<GroupOptimizer> groups,
                                     const ScheduleOptions &schedule, llvm::StringRef name);

/// Reads "pattern:weight-decay=X:lr-scale=Y"; null and a message in `error` when it
/// is none.
std::optional<ParameterGroup> parseParameterGroup(llvm::StringRef text, std::string &error);

} // namespace zero

#endif // ZERO_OPTIMIZERS_SCHEDULE_H
