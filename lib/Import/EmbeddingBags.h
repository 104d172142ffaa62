//===- EmbeddingBags.h - sums of rows of a table ----------------*- C++ -*-===//

#ifndef LIB_IMPORT_EMBEDDINGBAGS_H
#define LIB_IMPORT_EMBEDDINGBAGS_H

#include "ModelFile.h"

namespace zero::importer {

/// Replaces the export of torch.nn.EmbeddingBag by a gather and a scatter. Dynamo exports it as a
/// loop that appends the result of each bag to a sequence. The call that the exporter records on
/// each node identifies the nodes of the loop and their computation. Fails on options that change
/// the gradient.
void lowerEmbeddingBags(Model &model);

} // namespace zero::importer

#endif // LIB_IMPORT_EMBEDDINGBAGS_H
