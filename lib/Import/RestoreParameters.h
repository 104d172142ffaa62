//===- RestoreParameters.h - undoes what an exporter folded -----*- C++ -*-===//

#ifndef LIB_IMPORT_RESTOREPARAMETERS_H
#define LIB_IMPORT_RESTOREPARAMETERS_H

#include "ModelFile.h"

namespace zero::importer {

/// Gives parameters of the module that an optimizing exporter transposed, merged with equal
/// tensors or, being zero, dropped their own name, shape and readers again, as the same
/// model exported without optimization has them: `model` may be trained then, and saved
/// under the module's names. What is not certain is left as it is; of initializers that
/// then stand for several tensors a line goes to the signature's `lost`.
void restoreParameters(Model &model);

/// The same for models of PyTorch's older exporter (dynamo=False): equal tensors that it
/// merged become separate again.
void splitMergedTensors(Model &model);

} // namespace zero::importer

#endif // LIB_IMPORT_RESTOREPARAMETERS_H
