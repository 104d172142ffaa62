//===- cublaslt_api.h - the used part of cuBLASLt ---------------*- C++ -*-===//
//
// From NVIDIA's documentation, as in driver_api.h.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_CUBLASLT_API_H
#define RUNTIME_DEVICE_CUDA_CUBLASLT_API_H

#include "runtime/device/cuda/driver_api.h"

namespace zero::rt::cuda {

using BlasStatus = int; ///< 0: success
using BlasHandle = struct BlasHandleTag *;
using BlasProduct = struct BlasProductTag *; ///< cublasLtMatmulDesc_t
using BlasLayout = struct BlasLayoutTag *;
using BlasPreference = struct BlasPreferenceTag *;

/// The library documents that its bytes may be stored, for the same version of the library.
struct BlasAlgorithm {
  uint64_t data[8];
};

struct BlasHeuristic {
  BlasAlgorithm algorithm;
  size_t workspace;
  BlasStatus state;
  float waves;
  int reserved[4];
};

enum : BlasStatus { kBlasSuccess = 0, kBlasInvalidValue = 7, kBlasNotSupported = 15 };

enum : int {
  kBlasF32 = 0, ///< cudaDataType_t
  kBlasF16 = 2,
  kBlasBF16 = 14,
  kBlasCompute32F = 68, ///< cublasComputeType_t: float32, never TF32
  kBlasNormal = 0,      ///< cublasOperation_t
  kBlasTransposed = 1,
  kBlasProductTransposeA = 3, ///< cublasLtMatmulDescAttributes_t
  kBlasProductTransposeB = 4,
  kBlasProductEpilogue = 7,
  kBlasProductBias = 8,
  kBlasProductBiasType = 26,
  kBlasEpilogueBias = 4,     ///< cublasLtEpilogue_t
  kBlasLayoutBatchCount = 5, ///< cublasLtMatrixLayoutAttribute_t
  kBlasLayoutBatchStride = 6,
  kBlasPreferenceWorkspace = 1, ///< cublasLtMatmulPreferenceAttributes_t
  kBlasPreferenceReduction = 3,
  kBlasPreferenceAlignmentA = 5,
  kBlasPreferenceAlignmentB = 6,
  kBlasPreferenceAlignmentC = 7,
  kBlasPreferenceAlignmentD = 8,
  kBlasReductionComputeType = 2, ///< cublasLtReductionScheme_t: partial sums in float32
};

/// X(result, name, parameters): the functions of cuBLASLt's table.
#define ZERO_RT_CUBLASLT(X)                                                                        \
  X(size_t, cublasLtGetVersion, ())                                                                \
  X(const char *, cublasLtGetStatusString, (BlasStatus status))                                    \
  X(BlasStatus, cublasLtCreate, (BlasHandle * handle))                                             \
  X(BlasStatus, cublasLtDestroy, (BlasHandle handle))                                              \
  X(BlasStatus, cublasLtMatmulDescCreate, (BlasProduct * product, int computeType, int scaleType)) \
  X(BlasStatus, cublasLtMatmulDescDestroy, (BlasProduct product))                                  \
  X(BlasStatus, cublasLtMatmulDescSetAttribute,                                                    \
    (BlasProduct product, int attribute, const void *value, size_t bytes))                         \
  X(BlasStatus, cublasLtMatrixLayoutCreate,                                                        \
    (BlasLayout * layout, int type, uint64_t rows, uint64_t columns, int64_t leading))             \
  X(BlasStatus, cublasLtMatrixLayoutDestroy, (BlasLayout layout))                                  \
  X(BlasStatus, cublasLtMatrixLayoutSetAttribute,                                                  \
    (BlasLayout layout, int attribute, const void *value, size_t bytes))                           \
  X(BlasStatus, cublasLtMatmulPreferenceCreate, (BlasPreference * preference))                     \
  X(BlasStatus, cublasLtMatmulPreferenceDestroy, (BlasPreference preference))                      \
  X(BlasStatus, cublasLtMatmulPreferenceSetAttribute,                                              \
    (BlasPreference preference, int attribute, const void *value, size_t bytes))                   \
  X(BlasStatus, cublasLtMatmulAlgoGetHeuristic,                                                    \
    (BlasHandle handle, BlasProduct product, BlasLayout a, BlasLayout b, BlasLayout c,             \
     BlasLayout d, BlasPreference preference, int most, BlasHeuristic *found, int *count))         \
  X(BlasStatus, cublasLtMatmulAlgoCheck,                                                           \
    (BlasHandle handle, BlasProduct product, BlasLayout a, BlasLayout b, BlasLayout c,             \
     BlasLayout d, const BlasAlgorithm *algorithm, BlasHeuristic *result))                         \
  X(BlasStatus, cublasLtMatmul,                                                                    \
    (BlasHandle handle, BlasProduct product, const void *alpha, const void *a, BlasLayout aLayout, \
     const void *b, BlasLayout bLayout, const void *beta, const void *c, BlasLayout cLayout,       \
     void *d, BlasLayout dLayout, const BlasAlgorithm *algorithm, void *workspace, size_t bytes,   \
     Stream stream))

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_CUBLASLT_API_H
