//===- InitialValues.h - values of an initialization graph ------*- C++ -*-===//

#ifndef LIB_IMPORT_INITIALVALUES_H
#define LIB_IMPORT_INITIALVALUES_H

#include "ModelFile.h"

#include "llvm/ADT/StringMap.h"

namespace zero::importer {

/// Gives the constants that the initialization bindings of `info` name the values that its
/// initialization graph computes. The tensors of the graph are at `ranges` of the file.
void initialize(Model &model, pb::TrainingInfoProto &info, const TensorRanges &ranges,
                const llvm::StringMap<Constant *> &constants);

} // namespace zero::importer

#endif // LIB_IMPORT_INITIALVALUES_H
