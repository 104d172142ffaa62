//===- Pipelines.h - one function per phase ---------------------*- C++ -*-===//

#ifndef LIB_PIPELINES_PIPELINES_H
#define LIB_PIPELINES_PIPELINES_H

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
void addPack(mlir::OpPassManager &pm, const StepOptions &options);

} // namespace zero

#endif // LIB_PIPELINES_PIPELINES_H
