//===- LibraryCalls.h - workspace of library calls --------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_LIBRARYCALLS_H
#define ZERO_CODEGEN_LIBRARYCALLS_H

#include "dialects/Zero/Zero.h"

#include "llvm/Support/Error.h"

namespace zero {

/// The processors that the workspace of a library call has to suffice for.
enum class LibraryCpus {
  Host,   ///< this machine: what the library asks for here
  AllX86, ///< a bound for all x86-64 processors
  AllArm, ///< all 64-bit ARM processors, whose runtime has another library
};

/// Bytes of workspace that the library of the runtime needs on `cpus` for `call` with up to
/// `threads` threads per rank. Fails with the reason if the library does not have the call.
llvm::Expected<uint64_t> libraryWorkspace(LibraryAttr call, LibraryCpus cpus, unsigned threads);

/// Bytes of workspace of `call` on a GPU: for a matrix product those within which cuBLASLt chooses
/// its algorithm when the program is loaded. Fails with the reason if the runtime would refuse to
/// load the call.
llvm::Expected<uint64_t> gpuWorkspace(LibraryAttr call);

/// The widest heads of an attention that is one kernel on a GPU.
inline constexpr int64_t kGpuAttentionWidth = 128;

} // namespace zero

#endif // ZERO_CODEGEN_LIBRARYCALLS_H
