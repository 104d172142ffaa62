//===- LostParameters.h - parameters missing from a graph -------*- C++ -*-===//

#ifndef LIB_IMPORT_LOSTPARAMETERS_H
#define LIB_IMPORT_LOSTPARAMETERS_H

#include "ModelFile.h"

namespace zero::importer {

/// Adds the module's parameters that are missing in the model to its signature. `lost` gets those
/// that the model computes with, each with the reason and a node that read it. `aliases` gets those
/// that are tied to another parameter, and `absent` the others, which the model does not use.
void findLostParameters(Model &model);

} // namespace zero::importer

#endif // LIB_IMPORT_LOSTPARAMETERS_H
