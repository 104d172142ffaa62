//===- Pipelines.h - one function per phase ---------------------*- C++ -*-===//

#ifndef LIB_PIPELINES_PIPELINES_H
#define LIB_PIPELINES_PIPELINES_H

#include "dialects/Zero/Zero.h"
#include "zero/Pipelines/Phases.h"

namespace zero {

void addImport(mlir::OpPassManager &pm, const phase::ImportOptions &options);
void addRecognise(mlir::OpPassManager &pm, const PhaseOptions &options);
void addPrecision(mlir::OpPassManager &pm, const phase::PrecisionOptions &options);
void addDifferentiate(mlir::OpPassManager &pm, const PhaseOptions &options,
                      const planning::Machine &machine);
void addStep(mlir::OpPassManager &pm, const PhaseOptions &options);
void addShape(mlir::OpPassManager &pm, const PhaseOptions &options);
void addKernels(mlir::OpPassManager &pm, const phase::KernelOptions &options);
void addPlace(mlir::OpPassManager &pm, const PhaseOptions &options,
              const planning::Machine &machine);
void addPartition(mlir::OpPassManager &pm, const phase::PartitionOptions &options);
void addSchedule(mlir::OpPassManager &pm, const PhaseOptions &options,
                 const planning::Machine &machine);
/// The part of it that a trial of a plan needs: what lies on other tiers comes and goes.
void addTransfers(mlir::OpPassManager &pm, const PhaseOptions &options,
                  const planning::Machine &machine, bool isTrial);
void addPack(mlir::OpPassManager &pm);

/// The mode of --checkpoint: where none is given, auto if a plan is chosen.
OrAuto<Checkpoint> checkpointMode(const PhaseOptions &options);
/// Whether other tiles of parameters are tried where a budget wants it.
bool plansTiles(const PhaseOptions &options);
/// The phase `differentiate` without planning tiles.
void addGradients(mlir::OpPassManager &pm, const PhaseOptions &options);
/// The beginning of the phase `place`: activations as --checkpoint says.
void addActivations(mlir::OpPassManager &pm, const PhaseOptions &options);
/// The pass `zero-plan-tiles`, with what it may choose from.
std::unique_ptr<mlir::Pass> createPlanTiles(const PhaseOptions &options,
                                            const planning::Machine &machine);
/// The pass `zero-plan-memory`, with what it may choose from.
std::unique_ptr<mlir::Pass> createPlanMemory(const PhaseOptions &options,
                                             const planning::Machine &machine);
/// The phase `place` without planning: as the options, or the plan on the module, say. A
/// trial reports nothing.
void addPlacement(mlir::OpPassManager &pm, const PhaseOptions &options, bool isTrial);

} // namespace zero

#endif // LIB_PIPELINES_PIPELINES_H
