//===- LibraryCalls.cpp - workspace of library calls ----------------------===//

#include "zero/Codegen/LibraryCalls.h"

#include "runtime/device/cpu/library.h"
#include "runtime/device/cuda/columns.h"
#include "runtime/device/cuda/kernels/attention_limits.h"
#include "zero/Kernels/KernelMessage.h"

namespace zero {

/// The recommendation of NVIDIA's cuBLAS reference from sm_90 on (cublasSetWorkspace; 4 MiB
/// before).
static constexpr uint64_t kGpuMatmulWorkspace = 32 << 20;

static std::string askLibrary(const rt::proto::Kernel &kernel, LibraryCpus cpus, uint64_t &bytes,
                              int threads) {
  switch (cpus) {
  case LibraryCpus::Host:
    return rt::zero_rt_library_workspace(kernel, bytes, threads);
  case LibraryCpus::AllX86:
    return rt::zero_rt_portable_workspace(kernel, bytes, threads);
  case LibraryCpus::AllArm:
    return rt::zero_rt_arm_workspace(kernel, bytes, threads);
  }
  llvm_unreachable("unknown processors");
}

llvm::Expected<uint64_t> libraryWorkspace(LibraryAttr call, LibraryCpus cpus, unsigned threads) {
  rt::proto::Kernel kernel;
  describeCall(call, kernel);
  uint64_t most = 0;
  std::string error;
  // Fewer threads may need more: oneDNN cuts a sum into parts where their number allows it.
  for (unsigned count = 1; count <= threads; ++count) {
    uint64_t bytes = 0;
    error = askLibrary(kernel, cpus, bytes, int(count));
    most = std::max(most, bytes);
  }
  if (!error.empty())
    return llvm::createStringError(error);
  return most;
}

static_assert(kGpuAttentionWidth == rt::cuda::kMostAttentionWidth);

static rt::Status planProduct(const rt::proto::Kernel &kernel, uint64_t &workspace) {
  rt::cuda::Columnwise product;
  workspace = kGpuMatmulWorkspace;
  return rt::cuda::toColumnwise(kernel, product);
}

static rt::Status planAttention(const rt::proto::Kernel &kernel, uint64_t &workspace) {
  rt::AttentionPlan plan;
  int width = 0;
  ZERO_RT_TRY(rt::planAttention(kernel, plan, /*onGpu=*/true));
  return rt::cuda::limitAttention(plan, width, workspace);
}

llvm::Expected<uint64_t> gpuWorkspace(LibraryAttr call) {
  rt::proto::Kernel kernel;
  describeCall(call, kernel);
  uint64_t workspace = 0;
  const rt::Status status =
      kernel.has_attention() ? planAttention(kernel, workspace) : planProduct(kernel, workspace);
  if (!status.ok())
    return llvm::createStringError(status.getMessage());
  return workspace;
}

} // namespace zero
