//===- MergeShapes.h - the programs of several shapes as one ----*- C++ -*-===//

#ifndef LIB_EMIT_MERGESHAPES_H
#define LIB_EMIT_MERGESHAPES_H

#include "Tables.h"

#include "llvm/ADT/ArrayRef.h"

namespace zero {

/// Makes the programs of all tables but the first one the shapes of that: their kernels are added
/// to its kernels, equal ones once, their constants to its data, and all get the largest arenas.
/// The kernels must have their code.
void mergeShapes(llvm::MutableArrayRef<Tables> tables);

} // namespace zero

#endif // LIB_EMIT_MERGESHAPES_H
