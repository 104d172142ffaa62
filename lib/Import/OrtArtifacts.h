//===- OrtArtifacts.h - models of onnxruntime-training ----------*- C++ -*-===//

#ifndef LIB_IMPORT_ORTARTIFACTS_H
#define LIB_IMPORT_ORTARTIFACTS_H

#include "ModelFile.h"
#include "zero/Import/Import.h"

namespace zero::importer {

/// Whether `model` adds gradients to buffers, as a training model of onnxruntime does.
bool accumulatesGradients(const Model &model);

/// Makes a whole step of `model`, the training model of onnxruntime's artifacts, and of the
/// optimizer model at `path`: removes the accumulation of gradients, which the partitioned step
/// does itself, and appends the update of each parameter as plain operators. Returns the state.
/// Fails if the optimizer model does anything but clip gradients (InplaceClipGradNorm) and update
/// parameters (AdamWOptimizer or SGDOptimizerV2), or if a gradient belongs to no parameter.
std::vector<CarriedPair> joinOrtOptimizer(Model &model, llvm::StringRef path);

/// Gives the inputs of `model` that the checkpoint at `path` has values for these values: they are
/// no inputs any more, but parameters and state. Fails, listing them, where the types differ.
void bindOrtCheckpoint(Model &model, llvm::StringRef path);

} // namespace zero::importer

#endif // LIB_IMPORT_ORTARTIFACTS_H
