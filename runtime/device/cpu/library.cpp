//===- library.cpp - library kernels --------------------------------------===//

#include "runtime/device/cpu/library.h"

#include "runtime/device/cpu/attention.h"
#include "runtime/device/cpu/convolution.h"
#include "runtime/device/cpu/matmul.h"
#include "runtime/device/cpu/mixed.h"

namespace zero::rt {

template <typename T, typename Desc>
static Status make(const Desc &desc, int threads, std::unique_ptr<LibraryKernel> &made) {
  std::unique_ptr<T> kernel;
  ZERO_RT_TRY(T::create(desc, threads, kernel));
  made = std::move(kernel);
  return {};
}

Status makeLibraryKernel(const proto::Kernel &kernel, int threads,
                         std::unique_ptr<LibraryKernel> &made) {
  if (kernel.has_attention())
    return make<Attention>(kernel, threads, made);
  if (isMixed(kernel)) {
    std::unique_ptr<MixedKernel> mixed;
    ZERO_RT_TRY(MixedKernel::create(kernel, threads, mixed));
    made = std::move(mixed);
    return {};
  }
  switch (kernel.body_case()) {
  case proto::Kernel::kMatmul:
    return make<Matmul>(kernel.matmul(), threads, made);
  case proto::Kernel::kConvolution:
    return make<Convolution>(kernel.convolution(), threads, made);
  default:
    return fail(ZERO_RT_BAD_FILE, "expected a matrix product, a convolution or an attention");
  }
}

std::string zero_rt_library_workspace(const proto::Kernel &kernel, uint64_t &bytes, int threads) {
  std::unique_ptr<LibraryKernel> made;
  Status status = makeLibraryKernel(kernel, threads, made);
  bytes = status.ok() ? made->getWorkspace() : 0;
  return status.getMessage();
}

} // namespace zero::rt
