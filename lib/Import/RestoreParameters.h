//===- RestoreParameters.h - undo folding of parameters ---------*- C++ -*-===//

#ifndef LIB_IMPORT_RESTOREPARAMETERS_H
#define LIB_IMPORT_RESTOREPARAMETERS_H

#include "ModelFile.h"

namespace zero::importer {

/// Restores parameters of the module that an optimizing exporter transposed, merged with equal
/// tensors or, being zero, dropped: they get their own name, shape and readers, as in the same
/// model exported without optimization. `model` may then be trained, and saved under the module's
/// names. Uncertain cases are not changed; for initializers that then represent several tensors a
/// line is added to `lost` of the signature.
void restoreParameters(Model &model);

/// Whether PyTorch exported `model` and left no record of its tensors, as with dynamo=False.
bool lacksRecord(const Model &model);

/// The same for models of PyTorch's older exporter (dynamo=False): equal tensors that it
/// merged become separate again.
void splitMergedTensors(Model &model);

} // namespace zero::importer

#endif // LIB_IMPORT_RESTOREPARAMETERS_H
