//===- LibraryCalls.cpp - workspace of library calls ----------------------===//

#include "zero/Codegen/LibraryCalls.h"

#include "runtime/device/cpu/library.h"
#include "runtime/device/cuda/kernels/attention_limits.h"
#include "zero/Kernels/KernelMessage.h"

namespace zero {

llvm::Expected<uint64_t> libraryWorkspace(LibraryAttr call, bool isPortable, unsigned threads) {
  rt::proto::Kernel kernel;
  describeCall(call, kernel);
  uint64_t most = 0;
  std::string error;
  // Fewer threads may need more: oneDNN cuts a sum into parts where their number allows it.
  for (unsigned count = 1; count <= threads; ++count) {
    uint64_t bytes = 0;
    error = isPortable ? rt::zero_rt_portable_workspace(kernel, bytes, int(count))
                       : rt::zero_rt_library_workspace(kernel, bytes, int(count));
    most = std::max(most, bytes);
  }
  if (!error.empty())
    return llvm::createStringError(error);
  return most;
}

static_assert(kGpuAttentionWidth == rt::cuda::kMostAttentionWidth);

llvm::Expected<uint64_t> gpuWorkspace(LibraryAttr call) {
  if (isa<MatmulAttr>(call.getCall()))
    return kGpuMatmulWorkspace;
  rt::proto::Kernel kernel;
  describeCall(call, kernel);
  rt::AttentionPlan plan;
  int width = 0;
  uint64_t workspace = 0;
  rt::Status status = rt::planAttention(kernel, plan);
  if (status.ok())
    status = rt::cuda::limitAttention(plan, width, workspace);
  if (!status.ok())
    return llvm::createStringError(status.getMessage());
  return workspace;
}

} // namespace zero
