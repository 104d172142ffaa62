//===- nccl.cpp - load NCCL -----------------------------------------------===//

#include "runtime/comm/nccl/nccl.h"

#include "runtime/support/file.h"

#include <chrono>
#include <thread>
#include <unistd.h>

namespace zero::rt::cuda {

static const LibrarySource kSource = {"NCCL",
                                      "ZERO_NCCL",
                                      {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"},
                                      "install it from NVIDIA or as pip's nvidia-nccl"};
static constexpr int kOldest = 21800;

Status Nccl::open(std::shared_ptr<const Nccl> &nccl) {
  auto made = std::make_shared<Nccl>();
#define ZERO_RT_SYMBOL(result, name, parameters) {#name, reinterpret_cast<void **>(&made->name)},
  const LibrarySymbol symbols[] = {ZERO_RT_NCCL(ZERO_RT_SYMBOL)};
#undef ZERO_RT_SYMBOL
  ZERO_RT_TRY(DynamicLibrary::open(kSource, symbols, made->library));
  ZERO_RT_TRY(made->check(made->ncclGetVersion(&made->number), "ncclGetVersion"));
  if (made->number < kOldest)
    return fail(ZERO_RT_UNSUPPORTED, "NCCL %d ('%s') is too old: expected at least %d",
                made->number, escape(made->library.name()).c_str(), kOldest);
  nccl = std::move(made);
  return {};
}

Status Nccl::check(NcclResult result, const char *call, NcclHandle handle) const {
  if (result == kNcclSuccess || result == kNcclInProgress)
    return {};
  const char *more = handle ? ncclGetLastError(handle) : nullptr;
  return fail(ZERO_RT_INTERNAL, "%s: %s%s%s%s", call, ncclGetErrorString(result),
              more && *more ? ": " : "", more ? escape(more).c_str() : "",
              result == kNcclInvalidUsage ? "; each rank needs a GPU of its own" : "");
}

/// Reads the id that rank 0 has written; false until the file is complete.
static bool readId(const std::string &path, NcclId &id) {
  if (::access(path.c_str(), R_OK) != 0)
    return false;
  InputFile file;
  return InputFile::open(path, file).ok() && file.size() == sizeof(id) &&
         file.read(0, &id, sizeof(id)).ok();
}

Status shareId(const Nccl &nccl, const std::string &path, int rank, double timeoutSeconds,
               NcclId &id) {
  using Clock = std::chrono::steady_clock;
  if (rank == 0) {
    if (::access(path.c_str(), F_OK) == 0)
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "'%s' exists already, perhaps from an earlier run: remove it",
                  escape(path).c_str());
    ZERO_RT_TRY(nccl.check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId"));
    OutputFile file; // renamed when it is complete
    ZERO_RT_TRY(OutputFile::create(path, file));
    ZERO_RT_TRY(file.write(&id, sizeof(id)));
    return file.commit();
  }
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeoutSeconds);
  while (!readId(path, id)) {
    if (Clock::now() > deadline)
      return fail(ZERO_RT_TIMEOUT, "rank %d: rank 0 did not write '%s' within %g s", rank,
                  escape(path).c_str(), timeoutSeconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

} // namespace zero::rt::cuda
