//===- ListOptimizers.h - definitions of optimizers as JSON -----*- C++ -*-===//

#ifndef TOOLS_ZEROC_LISTOPTIMIZERS_H
#define TOOLS_ZEROC_LISTOPTIMIZERS_H

#include "llvm/Support/raw_ostream.h"

namespace zero {

/// Writes what docs and tests need to know of every optimizer.
void listOptimizers(llvm::raw_ostream &os);

} // namespace zero

#endif // TOOLS_ZEROC_LISTOPTIMIZERS_H
