//===- EmbeddingBags.h - sums of rows of a table ----------------*- C++ -*-===//

#ifndef LIB_IMPORT_EMBEDDINGBAGS_H
#define LIB_IMPORT_EMBEDDINGBAGS_H

#include "ModelFile.h"

namespace zero::importer {

/// Replaces what dynamo exports torch.nn.EmbeddingBag as, a loop that appends the result of
/// each bag to a sequence, by a gather and a scatter. Which nodes belong to it and what it
/// computes is in the call that the exporter notes on each. Fails on options whose
/// gradient is another.
void lowerEmbeddingBags(Model &model);

} // namespace zero::importer

#endif // LIB_IMPORT_EMBEDDINGBAGS_H
