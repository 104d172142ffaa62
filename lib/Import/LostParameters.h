//===- LostParameters.h - parameters missing from a graph -------*- C++ -*-===//

#ifndef LIB_IMPORT_LOSTPARAMETERS_H
#define LIB_IMPORT_LOSTPARAMETERS_H

#include "ModelFile.h"

namespace zero::importer {

/// Enters the parameters of the module that the model does not hold into its signature:
/// into `lost` what the model computes with, each with what became of it and a node that
/// read it, into `aliases` what is tied to another parameter, and into `absent` the others,
/// which the model does not compute with.
void findLostParameters(Model &model);

} // namespace zero::importer

#endif // LIB_IMPORT_LOSTPARAMETERS_H
