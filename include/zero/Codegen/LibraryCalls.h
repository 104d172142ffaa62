//===- LibraryCalls.h - kernels that a library runs -------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_LIBRARYCALLS_H
#define ZERO_CODEGEN_LIBRARYCALLS_H

#include "dialects/Zero/Zero.h"

#include "llvm/Support/Error.h"

namespace zero {

/// Bytes of scratch that the runtime's library needs for `call` on this machine,
/// with up to `threads` threads per rank. Fails with the library's reason.
llvm::Expected<uint64_t> libraryWorkspace(LibraryAttr call, unsigned threads);

/// Bytes of scratch of every matrix product on a GPU, within which cuBLASLt chooses among its
/// algorithms when the program is loaded: what NVIDIA's reference of cuBLAS recommends from sm_90
/// on (cublasSetWorkspace; 4 MiB before).
inline constexpr uint64_t kGpuMatmulWorkspace = 32 << 20;

} // namespace zero

#endif // ZERO_CODEGEN_LIBRARYCALLS_H
