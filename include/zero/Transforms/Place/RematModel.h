//===- RematModel.h - a step as input of recomputation planning -*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_PLACE_REMATMODEL_H
#define ZERO_TRANSFORMS_PLACE_REMATMODEL_H

#include "zero/Analysis/StepTime.h"
#include "zero/Planning/Remat.h"
#include "zero/Transforms/Place/ActivationPlan.h"

namespace zero {

/// The launches of a step, before it is partitioned, as nodes of lib/Planning.
class RematModel {
public:
  RematModel(mlir::func::FuncOp step, const Layers &layers, const OpTimes &times);

  const planning::RematProblem &getProblem() const { return problem; }
  /// Converts `kept` to an activation plan for zero-recompute-activations. Layers that read dropped
  /// values of one another form one run.
  ActivationPlan planOf(const planning::Kept &kept) const;
  /// The inverse conversion, without the runs.
  planning::Kept keptOf(const ActivationPlan &plan) const;

private:
  void addNode(mlir::Operation &op, const OpTimes &times);

  mlir::MLIRContext *context;
  const Layers &layers;
  planning::RematProblem problem;
  llvm::DenseMap<mlir::Value, int> numbers; ///< of values
};

} // namespace zero

#endif // ZERO_TRANSFORMS_PLACE_REMATMODEL_H
