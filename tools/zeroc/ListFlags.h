//===- ListFlags.h - flags as JSON ------------------------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_LISTFLAGS_H
#define TOOLS_ZEROC_LISTFLAGS_H

#include "zero/Pipelines/PhaseOptions.h"

#include "llvm/Support/raw_ostream.h"

namespace zero {

/// Writes `own`, the flags of zeroc itself and of its front ends, and those of the phases as JSON.
void listFlags(llvm::raw_ostream &os, llvm::ArrayRef<OptionDescription> own,
               const PhaseOptions &phases);

/// The flag of a name, of a value such as "N" or "FILE,...", and of a meaning.
OptionDescription describeFlag(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help);

} // namespace zero

#endif // TOOLS_ZEROC_LISTFLAGS_H
