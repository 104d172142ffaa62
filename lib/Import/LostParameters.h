//===- LostParameters.h - parameters that a graph does not hold -*- C++ -*-===//

#ifndef ZERO_LIB_IMPORT_LOSTPARAMETERS_H
#define ZERO_LIB_IMPORT_LOSTPARAMETERS_H

#include "ModelFile.h"

namespace zero::importer {

/// A line for each parameter of the module that the model computes with but does not hold,
/// none for one that it does not compute with, or that is tied to another. A line names the
/// parameter, what became of it and the node.
std::vector<std::string> findLostParameters(const Model &model);

} // namespace zero::importer

#endif // ZERO_LIB_IMPORT_LOSTPARAMETERS_H
