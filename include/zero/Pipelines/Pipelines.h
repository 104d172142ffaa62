//===- Pipelines.h - the passes of each phase -------------------*- C++ -*-===//
// One function for each phase. If a planner takes part in a phase (zero/Driver/Phases.h), the phase
// has one function for the passes before the choice and one for the passes after it, because a
// trial of a plan runs the same passes on a copy of the program.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PIPELINES_PIPELINES_H
#define ZERO_PIPELINES_PIPELINES_H

#include "zero/Pipelines/PhaseOptions.h"

namespace zero {

/// What a user says about the arguments and results of a program; see zero-bind-arguments.
struct ProgramOptions {
  std::string roles, loss;
  std::vector<std::string> carry, zeros, tie;
  std::string mesh;   ///< sizes of axes; empty: those of the program
  uint64_t parts = 1; ///< data-parallel ranks, unless they are the program's, times micro-batches
  bool forwardOnly = false;
  bool verbose = false;
};
/// Before the phases: turns a function on tensors into a step of nodes.
void addProgram(mlir::OpPassManager &pm, const ProgramOptions &options);

void addImport(mlir::OpPassManager &pm, const PhaseOptions &options);
void addRecognise(mlir::OpPassManager &pm, const PhaseOptions &options);
void addPrecision(mlir::OpPassManager &pm, const PhaseOptions &options);
void addShard(mlir::OpPassManager &pm, const PhaseOptions &options);
/// The phase `differentiate` after tiles are chosen.
void addGradients(mlir::OpPassManager &pm, const PhaseOptions &options);
void addStep(mlir::OpPassManager &pm, const PhaseOptions &options);
void addShape(mlir::OpPassManager &pm, const PhaseOptions &options);
void addKernels(mlir::OpPassManager &pm, const PhaseOptions &options);
/// The beginning of the phase `place`: activations according to --checkpoint.
void addActivations(mlir::OpPassManager &pm, const PhaseOptions &options);
/// The phase `place` after a plan is chosen: places state according to the options or the plan on
/// the module. A trial reports nothing.
void addPlacement(mlir::OpPassManager &pm, const PhaseOptions &options, bool isTrial);
void addPartition(mlir::OpPassManager &pm, const PhaseOptions &options);
/// The phase `schedule` up to its verifier. A trial reports nothing.
void addTransfers(mlir::OpPassManager &pm, const PhaseOptions &options,
                  const planning::Machine &machine, bool isTrial);
void addSchedule(mlir::OpPassManager &pm, const PhaseOptions &options,
                 const planning::Machine &machine);
void addPack(mlir::OpPassManager &pm, const PhaseOptions &options);

/// Before differentiation of a step that is written as ONNX: attention as products.
void addAttentionProducts(mlir::OpPassManager &pm);
/// After the phase `step`, instead of the phases that follow: writes the step as a function of its
/// state in plain ONNX operators.
void addPlainStep(mlir::OpPassManager &pm);

} // namespace zero

#endif // ZERO_PIPELINES_PIPELINES_H
