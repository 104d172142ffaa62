//===- LibraryCalls.h - workspace of library calls --------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_LIBRARYCALLS_H
#define ZERO_CODEGEN_LIBRARYCALLS_H

#include "dialects/Zero/Zero.h"

#include "llvm/Support/Error.h"

namespace zero {

/// Bytes of workspace that the library of the runtime needs for `call` with up to `threads` threads
/// per rank: those that it asks for on this machine, or, if `isPortable`, a bound for all
/// processors. Fails with the reason if the library does not have the call.
llvm::Expected<uint64_t> libraryWorkspace(LibraryAttr call, bool isPortable, unsigned threads);

/// Bytes of workspace of `call` on a GPU: for a matrix product those within which cuBLASLt chooses
/// its algorithm when the program is loaded. Fails with the reason if the runtime would refuse to
/// load the call.
llvm::Expected<uint64_t> gpuWorkspace(LibraryAttr call);

/// The widest heads of an attention that is one kernel on a GPU.
inline constexpr int64_t kGpuAttentionWidth = 128;

} // namespace zero

#endif // ZERO_CODEGEN_LIBRARYCALLS_H
