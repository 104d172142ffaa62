//===- nccl.cpp - load NCCL -----------------------------------------------===//

#include "runtime/comm/nccl/nccl.h"

namespace zero::rt::cuda {

static const LibrarySource kSource = {"NCCL",
                                      "ZERO_NCCL",
                                      {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"},
                                      "install it from NVIDIA or as pip's nvidia-nccl"};
static constexpr int kOldest = 21800;

Status Nccl::open(std::shared_ptr<const Nccl> &nccl) {
  auto made = std::make_shared<Nccl>();
#define ZERO_RT_SYMBOL(result, name, parameters) {#name, reinterpret_cast<void **>(&made->name)},
#define ZERO_RT_OPTIONAL(result, name, parameters)                                                 \
  {#name, reinterpret_cast<void **>(&made->name), /*isOptional=*/true},
  const LibrarySymbol symbols[] = {ZERO_RT_NCCL(ZERO_RT_SYMBOL)
                                       ZERO_RT_NCCL_MEMORY(ZERO_RT_OPTIONAL)};
#undef ZERO_RT_OPTIONAL
#undef ZERO_RT_SYMBOL
  ZERO_RT_TRY(DynamicLibrary::open(kSource, symbols, made->library));
  ZERO_RT_TRY(made->check(made->ncclGetVersion(&made->number), "ncclGetVersion"));
  if (made->number < kOldest)
    return fail(ZERO_RT_UNSUPPORTED, "NCCL %d ('%s') is too old: expected at least %d",
                made->number, escape(made->library.name()).c_str(), kOldest);
  nccl = std::move(made);
  return {};
}

Status Nccl::allocate(uint64_t bytes, void *&memory) const {
  return check(ncclMemAlloc(&memory, bytes), "ncclMemAlloc");
}

Status Nccl::check(NcclResult result, const char *call, NcclHandle handle) const {
  if (result == kNcclSuccess || result == kNcclInProgress)
    return {};
  const char *more = handle ? ncclGetLastError(handle) : nullptr;
  return fail(ZERO_RT_INTERNAL, "%s: %s%s%s%s", call, ncclGetErrorString(result),
              more && *more ? ": " : "", more ? escape(more).c_str() : "",
              result == kNcclInvalidUsage ? "; each rank needs a GPU of its own" : "");
}

} // namespace zero::rt::cuda
