//===- Linker.h - the linker of kernels -------------------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_LINKER_H
#define ZERO_CODEGEN_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace zero {

/// Runs LLD with `arguments`, of which the first is its name. Returns the file that it links, or
/// fails with what LLD writes.
using Linker = llvm::Expected<std::string> (*)(llvm::ArrayRef<const char *> arguments);

/// Links kernels with `linker` from now on. A program that contains LLD calls this before it links;
/// others run LLD as a child process.
void setLinker(Linker linker);

} // namespace zero

#endif // ZERO_CODEGEN_LINKER_H
