//===- TrainingInfo.h - how a model says that it trains ---------*- C++ -*-===//

#ifndef LIB_IMPORT_TRAININGINFO_H
#define LIB_IMPORT_TRAININGINFO_H

#include "ModelFile.h"

namespace zero::importer {

/// The number of the training info that `options` choose, or of the only one; nothing if the model
/// has none, or none is to be used. Fails if there are several to choose from, or no such one.
std::optional<int> chooseTraining(const pb::ModelProto &proto, const ImportOptions &options);

/// Appends the algorithm of the chosen training info to the main graph, and checks that its
/// bindings assign outputs to initializers.
void appendAlgorithm(Model &model);

/// Makes state of the initializers that the bindings of the chosen training info name. Their first
/// values are those of its initialization graph, whose tensors are at `ranges` of the file, unless
/// ImportOptions::keepInitializers.
void bindState(Model &model, const TensorRanges &ranges, const ImportOptions &options);

} // namespace zero::importer

#endif // LIB_IMPORT_TRAININGINFO_H
