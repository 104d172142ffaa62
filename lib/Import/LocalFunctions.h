//===- LocalFunctions.h - inline the functions of a model -------*- C++ -*-===//

#ifndef LIB_IMPORT_LOCALFUNCTIONS_H
#define LIB_IMPORT_LOCALFUNCTIONS_H

#include "ModelFile.h"

namespace zero::importer {

/// Replaces calls of the model's own functions by their bodies. Nodes whose operators have another
/// definition in the version that their function imports keep that version.
void inlineLocalFunctions(Model &model);

} // namespace zero::importer

#endif // LIB_IMPORT_LOCALFUNCTIONS_H
