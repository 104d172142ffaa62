//===- MeshAxes.h - the flag --mesh -----------------------------*- C++ -*-===//

#ifndef ZERO_OPTIONS_MESHAXES_H
#define ZERO_OPTIONS_MESHAXES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace zero {

/// Names and sizes of the axes of the mesh of ranks, the outermost first.
using MeshAxes = llvm::SmallVector<std::pair<std::string, int64_t>>;

/// Parses "data=2,tensor=4": the axes `data`, `context` and `tensor`, each at most once, in any
/// order. An axis that is left out has one rank; `context` is then no axis of the mesh. Returns an
/// error, or an empty text.
std::string parseMesh(llvm::StringRef text, MeshAxes &axes);
/// Whether ranks have nothing but different parts of the batch.
bool isDataParallel(const MeshAxes &axes);
int64_t axisSize(const MeshAxes &axes, llvm::StringRef name);

} // namespace zero

#endif // ZERO_OPTIONS_MESHAXES_H
