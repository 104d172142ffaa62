//===- LibraryWorkspace.h - scratch that a library asks for -----*- C++ -*-===//

#ifndef ZERO_LIB_CODEGEN_LIBRARYWORKSPACE_H
#define ZERO_LIB_CODEGEN_LIBRARYWORKSPACE_H

#include "MatmulMatcher.h"

#include "llvm/Support/Error.h"

namespace zero {

/// Bytes of scratch that the runtime's library needs for `matmul` on this machine,
/// with one thread per rank. Fails with the library's reason.
llvm::Expected<uint64_t> libraryWorkspace(const Matmul &matmul);

} // namespace zero

#endif // ZERO_LIB_CODEGEN_LIBRARYWORKSPACE_H
