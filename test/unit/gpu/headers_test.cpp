//===- headers_test.cpp - our declarations against NVIDIA's headers -------===//
//
// Built only where these headers are installed. Compares sizes, constants and parameter kinds, and
// looks for the functions in the libraries that are beside the headers.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/nccl/nccl.h"
#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/cuda/driver.h"

#include <cublasLt.h>
#include <cuda.h>
#include <filesystem>
#include <gtest/gtest.h>
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

using namespace zero::rt;

namespace {

/// Treats all pointers as equal, and also all numbers (including enumerators) of the same size.
template <typename One, typename Other>
constexpr bool kAlike =
    std::is_void_v<One> || std::is_void_v<Other>
        ? std::is_same_v<One, Other>
        : std::is_pointer_v<One> == std::is_pointer_v<Other> && sizeof(One) == sizeof(Other);

template <typename One, typename Other>
struct Same : std::false_type {};
template <typename R, typename... As, typename S, typename... Bs>
  requires(sizeof...(As) == sizeof...(Bs))
struct Same<R (*)(As...), S (*)(Bs...)>
    : std::bool_constant<(kAlike<R, S> && ... && kAlike<As, Bs>)> {};

#define CHECK_DRIVER(name, exported, parameters)                                                   \
  static_assert(Same<cuda::Result(*) parameters, decltype(&::name)>::value, exported);
#define CHECK_BLAS(result, name, parameters)                                                       \
  static_assert(Same<result(*) parameters, decltype(&::name)>::value, #name);
namespace declared {
using namespace cuda;
ZERO_RT_CUDA_DRIVER(CHECK_DRIVER)
ZERO_RT_CUBLASLT(CHECK_BLAS)
} // namespace declared

// cuda.h renames functions. The exported names must be those in our declarations.
#define STRING_OF(text) #text
#define EXPORTED(name) STRING_OF(name)
TEST(CudaHeaders, ExportTheseNames) {
  EXPECT_STREQ(EXPORTED(cuMemAlloc), "cuMemAlloc_v2");
  EXPECT_STREQ(EXPORTED(cuMemFree), "cuMemFree_v2");
  EXPECT_STREQ(EXPORTED(cuMemGetInfo), "cuMemGetInfo_v2");
  EXPECT_STREQ(EXPORTED(cuMemcpyHtoDAsync), "cuMemcpyHtoDAsync_v2");
  EXPECT_STREQ(EXPORTED(cuMemcpyDtoHAsync), "cuMemcpyDtoHAsync_v2");
  EXPECT_STREQ(EXPORTED(cuMemcpyDtoDAsync), "cuMemcpyDtoDAsync_v2");
  EXPECT_STREQ(EXPORTED(cuStreamDestroy), "cuStreamDestroy_v2");
  EXPECT_STREQ(EXPORTED(cuEventDestroy), "cuEventDestroy_v2");
  EXPECT_STREQ(EXPORTED(cuStreamBeginCapture), "cuStreamBeginCapture_v2");
  EXPECT_STREQ(EXPORTED(cuGraphInstantiate), "cuGraphInstantiateWithFlags");
  EXPECT_STREQ(EXPORTED(cuDevicePrimaryCtxRelease), "cuDevicePrimaryCtxRelease_v2");
}

/// Opens `Library`, which `variable` names, in the folder of the toolkit. Returns the error.
template <typename Library>
std::string errorOf(const char *variable, const char *name) {
  const std::string path = std::string(ZERO_CUDA_LIBRARIES) + name;
  if (!std::filesystem::exists(path))
    return "missing";
  ::setenv(variable, path.c_str(), 1);
  std::shared_ptr<const Library> opened;
  Status status = Library::open(opened);
  ::unsetenv(variable);
  return status.getMessage();
}

TEST(CudaLibraries, ExportTheseNames) {
  const std::string blas = errorOf<cuda::BlasLibrary>("ZERO_CUBLASLT", "libcublasLt.so"),
                    nccl = errorOf<cuda::Nccl>("ZERO_NCCL", "libnccl.so"),
                    driver = errorOf<cuda::Driver>("ZERO_CUDA_DRIVER", "stubs/libcuda.so");
  EXPECT_TRUE(blas.empty() || blas == "missing") << blas;
  EXPECT_TRUE(nccl.empty() || nccl == "missing") << nccl;
  // It has all functions, which do nothing.
  EXPECT_TRUE(driver == "missing" || driver.find("toolkit's stub") != driver.npos) << driver;
}

#define EQUAL(ours, theirs) static_assert(int(cuda::ours) == int(theirs))
EQUAL(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
EQUAL(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
EQUAL(kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
EQUAL(kNoDevice, CUDA_ERROR_NO_DEVICE);
EQUAL(kNotFound, CUDA_ERROR_NOT_FOUND);
EQUAL(kNotReady, CUDA_ERROR_NOT_READY);
EQUAL(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
EQUAL(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
EQUAL(kAssert, CUDA_ERROR_ASSERT);
EQUAL(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
EQUAL(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
EQUAL(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
EQUAL(kMostSharedBytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
EQUAL(kMaxDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
EQUAL(kJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
EQUAL(kJitErrorLogBufferBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
EQUAL(kHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE);
EQUAL(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
EQUAL(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
EQUAL(kEventDefault, CU_EVENT_DEFAULT);
EQUAL(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
EQUAL(kBlasNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
EQUAL(kBlasInvalidValue, CUBLAS_STATUS_INVALID_VALUE);
EQUAL(kBlasF32, CUDA_R_32F);
EQUAL(kBlasF16, CUDA_R_16F);
EQUAL(kBlasBF16, CUDA_R_16BF);
EQUAL(kBlasCompute32F, CUBLAS_COMPUTE_32F);
EQUAL(kBlasNormal, CUBLAS_OP_N);
EQUAL(kBlasTransposed, CUBLAS_OP_T);
EQUAL(kBlasProductTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
EQUAL(kBlasProductTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
EQUAL(kBlasProductEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
EQUAL(kBlasProductBias, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
EQUAL(kBlasProductBiasType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
EQUAL(kBlasEpilogueBias, CUBLASLT_EPILOGUE_BIAS);
EQUAL(kBlasLayoutBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
EQUAL(kBlasLayoutBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
EQUAL(kBlasPreferenceWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
EQUAL(kBlasPreferenceReduction, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
EQUAL(kBlasReductionComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
EQUAL(kBlasPreferenceAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
EQUAL(kBlasPreferenceAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
EQUAL(kBlasPreferenceAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
EQUAL(kBlasPreferenceAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(cuda::BlasAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(cuda::BlasHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(cuda::BlasHeuristic, workspace) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(cuda::BlasHeuristic, state) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));

#ifdef NCCL_MAJOR
namespace declared {
ZERO_RT_NCCL(CHECK_BLAS)
} // namespace declared
EQUAL(kNcclInternalError, ncclInternalError);
EQUAL(kNcclInProgress, ncclInProgress);
EQUAL(kNcclSum, ncclSum);
EQUAL(kNcclMean, ncclAvg);
EQUAL(kNcclUint8, ncclUint8);
EQUAL(kNcclInt32, ncclInt32);
EQUAL(kNcclInt64, ncclInt64);
EQUAL(kNcclFloat16, ncclFloat16);
EQUAL(kNcclFloat32, ncclFloat32);
EQUAL(kNcclFloat64, ncclFloat64);
EQUAL(kNcclBfloat16, ncclBfloat16);
static_assert(sizeof(cuda::NcclId) == sizeof(ncclUniqueId));
static_assert(offsetof(cuda::NcclConfig, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(cuda::NcclConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(cuda::NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(cuda::NcclConfig, network) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(cuda::NcclConfig, name) == offsetof(ncclConfig_t, commName));

/// Compares field by field, because later versions only add fields.
TEST(NcclHeaders, ConfigHasItsDefaults) {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  const cuda::NcclConfig ours;
  EXPECT_EQ(ours.magic, theirs.magic);
  EXPECT_LE(ours.version, theirs.version);
  EXPECT_LE(sizeof(ours), sizeof(theirs));
  EXPECT_EQ(ours.clusterSize, theirs.cgaClusterSize);
  EXPECT_EQ(ours.network, theirs.netName);
  EXPECT_EQ(ours.name, theirs.commName);
}
#endif

} // namespace
