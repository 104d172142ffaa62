//===- cublaslt.cpp - load cuBLASLt ---------------------------------------===//

#include "runtime/device/cuda/cublaslt.h"

namespace zero::rt::cuda {

static const LibrarySource kSource = {
    "cuBLASLt",
    "ZERO_CUBLASLT",
    {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"},
    "install it with the CUDA toolkit or as pip's nvidia-cublas"};

Status BlasLibrary::open(std::shared_ptr<const BlasLibrary> &library) {
  auto made = std::make_shared<BlasLibrary>();
#define ZERO_RT_SYMBOL(result, name, parameters) {#name, reinterpret_cast<void **>(&made->name)},
  const LibrarySymbol symbols[] = {ZERO_RT_CUBLASLT(ZERO_RT_SYMBOL)};
#undef ZERO_RT_SYMBOL
  ZERO_RT_TRY(DynamicLibrary::open(kSource, symbols, made->library));
  library = std::move(made);
  return {};
}

Status BlasLibrary::check(BlasStatus status, const char *call) const {
  if (status == kBlasSuccess)
    return {};
  const char *text = cublasLtGetStatusString(status);
  return fail(ZERO_RT_INTERNAL, "%s: %s", call, text ? text : format("error %d", status).c_str());
}

} // namespace zero::rt::cuda
