//===- LibraryCalls.h - kernels that a library runs -------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_LIBRARYCALLS_H
#define ZERO_CODEGEN_LIBRARYCALLS_H

#include "runtime/format/executable.pb.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"

namespace zero {

/// Sets the body of `kernel` to the library call that `call` describes: its `kind`
/// and the fields of the message of that name in executable.proto, and `stored`, the
/// element type of each argument, unless all floats are f32.
void describeCall(mlir::DictionaryAttr call, rt::proto::Kernel &kernel);

/// Bytes of scratch that the runtime's library needs for `call` on this machine,
/// with up to `threads` threads per rank. Fails with the library's reason.
llvm::Expected<uint64_t> libraryWorkspace(mlir::DictionaryAttr call, unsigned threads);

/// Bytes of scratch of every matrix product on a GPU, within which cuBLASLt chooses among its
/// algorithms when the program is loaded: what NVIDIA's reference of cuBLAS recommends from sm_90
/// on (cublasSetWorkspace; 4 MiB before).
inline constexpr uint64_t kGpuMatmulWorkspace = 32 << 20;

/// Floating-point operations of `call`, a convolution or an attention.
int64_t libraryFlops(mlir::DictionaryAttr call);

} // namespace zero

#endif // ZERO_CODEGEN_LIBRARYCALLS_H
