//===- library.cpp - library kernels --------------------------------------===//

#include "runtime/device/cpu/library.h"

#include "runtime/device/cpu/attention.h"
#include "runtime/device/cpu/eigen_convolution.h"
#include "runtime/device/cpu/eigen_matmul.h"
#if ZERO_RT_ONEDNN
#include "runtime/device/cpu/convolution.h"
#include "runtime/device/cpu/matmul.h"
#endif
#include "runtime/device/cpu/mixed.h"
#include "runtime/format/tables.h"

namespace zero::rt {

template <typename T, typename... Arguments>
static Status make(std::unique_ptr<LibraryKernel> &made, const Arguments &...arguments) {
  std::unique_ptr<T> kernel;
  ZERO_RT_TRY(T::create(arguments..., kernel));
  made = std::move(kernel);
  return {};
}

std::string missingForHalves() {
  return missingFeature("avx avx2 bmi bmi2 f16c fma lzcnt movbe avx512f avx512bw avx512cd avx512dq "
                        "avx512vl avx512bf16");
}

/// Reads the types of a kernel that multiplies elements as they are stored.
static Status readTypes(const proto::Kernel &kernel, StoredTypes &types) {
  if (!multipliesHalves(kernel))
    return {};
  ZERO_RT_TRY(checkStored(kernel));
  const int count = kernel.stored_size();
  const bool bias = kernel.matmul().bias() || kernel.convolution().bias();
  types.operands = ZERO_RT_BF16;
  types.bias = bias ? static_cast<DType>(kernel.stored(2)) : ZERO_RT_F32;
  types.result = static_cast<DType>(kernel.stored(count - 1));
  if (kernel.stored(0) != proto::BF16 || kernel.stored(1) != proto::BF16)
    return fail(ZERO_RT_UNSUPPORTED, "a product of bfloat16: expected both operands in bfloat16");
  if (types.bias == ZERO_RT_F16 || types.result == ZERO_RT_F16)
    return fail(ZERO_RT_UNSUPPORTED, "a product of bfloat16: expected no argument of float16");
  return {};
}

ProductLibrary productLibrary() {
  return ZERO_RT_ONEDNN ? ProductLibrary::OneDnn : ProductLibrary::Eigen;
}

Status makeLibraryKernel(const proto::Kernel &kernel, int threads,
                         std::unique_ptr<LibraryKernel> &made, ProductLibrary library) {
  if (kernel.has_attention())
    return make<Attention>(made, kernel, threads);
  if (!kernel.has_matmul() && !kernel.has_convolution())
    return fail(ZERO_RT_BAD_FILE, "expected a matrix product, a convolution or an attention");
  if (isMixed(kernel) && !multipliesHalves(kernel))
    return make<MixedKernel>(made, kernel, threads, library);
  StoredTypes types;
  ZERO_RT_TRY(readTypes(kernel, types));
#if ZERO_RT_ONEDNN
  if (library == ProductLibrary::OneDnn)
    return kernel.has_matmul() ? make<Matmul>(made, kernel.matmul(), types, threads)
                               : make<Convolution>(made, kernel.convolution(), types, threads);
#endif
  return kernel.has_matmul() ? make<EigenMatmul>(made, kernel.matmul(), types, threads)
                             : make<EigenConvolution>(made, kernel.convolution(), types, threads);
}

static std::string workspaceOf(const proto::Kernel &kernel, uint64_t &bytes, int threads,
                               ProductLibrary library) {
  std::unique_ptr<LibraryKernel> made;
  Status status = makeLibraryKernel(kernel, threads, made, library);
  bytes = status.ok() ? made->getWorkspace() : 0;
  return status.getMessage();
}

std::string zero_rt_library_workspace(const proto::Kernel &kernel, uint64_t &bytes, int threads) {
  return workspaceOf(kernel, bytes, threads, productLibrary());
}

std::string zero_rt_arm_workspace(const proto::Kernel &kernel, uint64_t &bytes, int threads) {
  return workspaceOf(kernel, bytes, threads, ProductLibrary::Eigen);
}

} // namespace zero::rt
