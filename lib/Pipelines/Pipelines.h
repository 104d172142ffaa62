//===- Pipelines.h - one function per phase ---------------------*- C++ -*-===//

#ifndef LIB_PIPELINES_PIPELINES_H
#define LIB_PIPELINES_PIPELINES_H

#include "dialects/Zero/Zero.h"
#include "zero/Pipelines/Phases.h"

namespace zero {

void addImport(mlir::OpPassManager &pm, const StepOptions &options);
void addRecognise(mlir::OpPassManager &pm, const StepOptions &options);
void addPrecision(mlir::OpPassManager &pm, const StepOptions &options);
void addDifferentiate(mlir::OpPassManager &pm, const StepOptions &options);
void addStep(mlir::OpPassManager &pm, const StepOptions &options);
void addShape(mlir::OpPassManager &pm, const StepOptions &options);
void addKernels(mlir::OpPassManager &pm, const StepOptions &options);
void addPlace(mlir::OpPassManager &pm, const StepOptions &options);
void addPartition(mlir::OpPassManager &pm, const StepOptions &options);
void addSchedule(mlir::OpPassManager &pm, const StepOptions &options);
/// The part of it that a trial of a plan needs: what lies on other tiers comes and goes.
void addTransfers(mlir::OpPassManager &pm, const StepOptions &options, bool isTrial);
void addPack(mlir::OpPassManager &pm, const StepOptions &options);

/// What an option of a tier says; the device where a planner chooses.
Tier fixedTier(llvm::StringRef option);
/// Whether the options leave a plan to be chosen.
bool isPlanned(const StepOptions &options);
/// The mode of --checkpoint: where none is given, auto if a plan is chosen.
llvm::StringRef checkpointMode(const StepOptions &options);
/// Whether other tiles of parameters are tried where a budget wants it.
bool plansTiles(const StepOptions &options);
/// The phase `differentiate` without planning tiles.
void addGradients(mlir::OpPassManager &pm, const StepOptions &options);
/// The beginning of the phase `place`: activations as --checkpoint says.
void addActivations(mlir::OpPassManager &pm, const StepOptions &options);
/// The pass `zero-plan-tiles`, with what it may choose from.
std::unique_ptr<mlir::Pass> createPlanTiles(const StepOptions &options);
/// The pass `zero-plan-memory`, with what it may choose from.
std::unique_ptr<mlir::Pass> createPlanMemory(const StepOptions &options);
/// The phase `place` without planning: as the options, or the plan on the module, say. A
/// trial reports nothing.
void addPlacement(mlir::OpPassManager &pm, const StepOptions &options, bool isTrial);

} // namespace zero

#endif // LIB_PIPELINES_PIPELINES_H
