//===- recording_blas.cpp - the symbols of cuBLASLt -----------------------===//

#include "engine.h"
#include "runtime/device/cuda/cublaslt_api.h"
#include "runtime/support/floats.h"

#include <cstring>

namespace zero::rt::cuda {
struct BlasHandleTag {};
struct BlasProductTag {
  std::map<int, int32_t> numbers;
  uint64_t bias = 0;
};
struct BlasLayoutTag {
  int type;
  uint64_t rows, columns;
  int64_t leading, stride = 0;
  int32_t batch = 1;
};
struct BlasPreferenceTag {
  uint64_t workspace = 0;
  std::map<int, uint32_t> alignments;
};
} // namespace zero::rt::cuda

using namespace recording;
using namespace zero::rt;

#define EXPORT extern "C" __attribute__((visibility("default")))

template <typename T, typename... Args>
static BlasStatus make(T **made, Args... args) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  *made = new T{args...};
  ++engine.counted.made;
  ++engine.counted.alive;
  return kBlasSuccess;
}

template <typename T>
static BlasStatus destroy(T *made) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  delete made;
  --engine.counted.alive;
  return kBlasSuccess;
}

EXPORT size_t cublasLtGetVersion() { return 130000; }
EXPORT const char *cublasLtGetStatusString(BlasStatus) { return "as the recording library says"; }
EXPORT BlasStatus cublasLtCreate(BlasHandle *handle) { return make(handle); }
EXPORT BlasStatus cublasLtDestroy(BlasHandle handle) { return destroy(handle); }
EXPORT BlasStatus cublasLtMatmulDescCreate(BlasProduct *product, int compute, int scale) {
  return compute == kBlasCompute32F && scale == kBlasF32 ? make(product) : kBlasNotSupported;
}
EXPORT BlasStatus cublasLtMatmulDescDestroy(BlasProduct product) { return destroy(product); }
EXPORT BlasStatus cublasLtMatmulDescSetAttribute(BlasProduct product, int attribute,
                                                 const void *value, size_t bytes) {
  if (attribute == kBlasProductBias && bytes == sizeof(product->bias))
    std::memcpy(&product->bias, value, bytes);
  else if (bytes == sizeof(int32_t))
    std::memcpy(&product->numbers[attribute], value, bytes);
  else
    return kBlasInvalidValue;
  return kBlasSuccess;
}
EXPORT BlasStatus cublasLtMatrixLayoutCreate(BlasLayout *layout, int type, uint64_t rows,
                                             uint64_t columns, int64_t leading) {
  if (leading < int64_t(rows))
    return kBlasInvalidValue;
  return make(layout, type, rows, columns, leading);
}
EXPORT BlasStatus cublasLtMatrixLayoutDestroy(BlasLayout layout) { return destroy(layout); }
EXPORT BlasStatus cublasLtMatrixLayoutSetAttribute(BlasLayout layout, int attribute,
                                                   const void *value, size_t bytes) {
  if (attribute == kBlasLayoutBatchCount && bytes == sizeof(layout->batch))
    std::memcpy(&layout->batch, value, bytes);
  else if (attribute == kBlasLayoutBatchStride && bytes == sizeof(layout->stride))
    std::memcpy(&layout->stride, value, bytes);
  else
    return kBlasInvalidValue;
  return kBlasSuccess;
}
EXPORT BlasStatus cublasLtMatmulPreferenceCreate(BlasPreference *preference) {
  return make(preference);
}
EXPORT BlasStatus cublasLtMatmulPreferenceDestroy(BlasPreference preference) {
  return destroy(preference);
}
EXPORT BlasStatus cublasLtMatmulPreferenceSetAttribute(BlasPreference preference, int attribute,
                                                       const void *value, size_t bytes) {
  if (attribute == kBlasPreferenceWorkspace && bytes == sizeof(preference->workspace))
    std::memcpy(&preference->workspace, value, bytes);
  else if (bytes == sizeof(uint32_t))
    std::memcpy(&preference->alignments[attribute], value, bytes);
  else
    return kBlasInvalidValue;
  return kBlasSuccess;
}

/// Products with a sum of more than a thousand terms require workspace here, so a plan without
/// workspace fails.
static uint64_t workspaceOf(const BlasLayout a, const BlasProduct product) {
  const bool transposed = product->numbers[kBlasProductTransposeA] == kBlasTransposed;
  return (transposed ? a->rows : a->columns) > 1000 ? 4096 : 0;
}

EXPORT BlasStatus cublasLtMatmulAlgoGetHeuristic(BlasHandle, BlasProduct product, BlasLayout a,
                                                 BlasLayout b, BlasLayout c, BlasLayout d,
                                                 BlasPreference preference, int,
                                                 BlasHeuristic *found, int *count) {
  const bool bias = product->numbers[kBlasProductEpilogue] == kBlasEpilogueBias;
  const bool types =
      a->type == b->type && c->type == d->type && (c->type == a->type || c->type == kBlasF32);
  if (!types || (bias && product->bias == 0))
    return kBlasNotSupported;
  if (preference->alignments[kBlasPreferenceReduction] != kBlasReductionComputeType)
    Engine::get().problem("a product that may add partial sums in the type of its result");
  const uint64_t needed = workspaceOf(a, product);
  *count = needed <= preference->workspace;
  *found = {};
  found->workspace = needed;
  found->algorithm.data[0] = preference->alignments[kBlasPreferenceAlignmentA];
  return kBlasSuccess;
}

static DType dtypeOf(int type) {
  return type == kBlasF16 ? ZERO_RT_F16 : type == kBlasBF16 ? ZERO_RT_BF16 : ZERO_RT_F32;
}

namespace {
/// A matrix of a batch. Its elements are accessed one at a time as float32.
struct View {
  const BlasLayoutTag layout;
  char *start;

  char *at(int64_t batch, uint64_t row, uint64_t column) const {
    return start + (batch * layout.stride + int64_t(row) + int64_t(column) * layout.leading) *
                       int64_t(sizeOf(dtypeOf(layout.type)));
  }
  float get(int64_t batch, uint64_t row, uint64_t column) const {
    float value;
    convertFloats(dtypeOf(layout.type), at(batch, row, column), ZERO_RT_F32, &value, 1);
    return value;
  }
  void set(int64_t batch, uint64_t row, uint64_t column, float value) const {
    convertFloats(ZERO_RT_F32, &value, dtypeOf(layout.type), at(batch, row, column), 1);
  }
  /// The number of bytes up to the end of the last element.
  static uint64_t reach(const BlasLayoutTag &layout) {
    return uint64_t((layout.batch - 1) * layout.stride + int64_t(layout.rows) +
                    int64_t(layout.columns - 1) * layout.leading) *
           sizeOf(dtypeOf(layout.type));
  }
};

struct Call {
  bool transposeA, transposeB;
  float alpha, beta;
  View a, b, c, d;
  char *bias;

  void run() const {
    const uint64_t depth = transposeA ? a.layout.rows : a.layout.columns;
    const View vector{{d.layout.type, d.layout.rows, 1, int64_t(d.layout.rows)}, bias};
    for (int64_t batch = 0; batch < d.layout.batch; ++batch)
      for (uint64_t row = 0; row < d.layout.rows; ++row)
        for (uint64_t column = 0; column < d.layout.columns; ++column) {
          float sum = 0;
          for (uint64_t k = 0; k < depth; ++k)
            sum += (transposeA ? a.get(batch, k, row) : a.get(batch, row, k)) *
                   (transposeB ? b.get(batch, column, k) : b.get(batch, k, column));
          float result = alpha * sum;
          if (bias)
            result += vector.get(0, row, 0);
          if (beta != 0)
            result += beta * c.get(batch, row, column);
          d.set(batch, row, column, result);
        }
  }
};
} // namespace

EXPORT BlasStatus cublasLtMatmul(BlasHandle, BlasProduct product, const void *alpha, const void *a,
                                 BlasLayout aLayout, const void *b, BlasLayout bLayout,
                                 const void *beta, const void *c, BlasLayout cLayout, void *d,
                                 BlasLayout dLayout, const BlasAlgorithm *algorithm,
                                 void *workspace, size_t bytes, Stream stream) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  auto place = [](const void *pointer) { return reinterpret_cast<uint64_t>(pointer); };
  auto view = [&](const void *pointer, BlasLayout layout) {
    if (place(pointer) % algorithm->data[0] != 0)
      engine.problem("cublasLtMatmul: an operand is not aligned as was promised");
    return View{*layout, engine.translate(place(pointer), View::reach(*layout), "cublasLtMatmul")};
  };
  if (bytes < workspaceOf(aLayout, product) || (bytes > 0 && place(workspace) % 256 != 0))
    engine.problem("cublasLtMatmul: the workspace is not what was promised");
  if (bytes > 0)
    engine.translate(place(workspace), bytes, "the workspace of cublasLtMatmul");
  const bool hasBias = product->numbers[kBlasProductEpilogue] == kBlasEpilogueBias;
  Call call{product->numbers[kBlasProductTransposeA] == kBlasTransposed,
            product->numbers[kBlasProductTransposeB] == kBlasTransposed,
            *static_cast<const float *>(alpha),
            *static_cast<const float *>(beta),
            view(a, aLayout),
            view(b, bLayout),
            view(c, cLayout),
            view(d, dLayout),
            hasBias ? engine.translate(product->bias, 1, "a bias") : nullptr};
  for (const View *each : {&call.a, &call.b, &call.c, &call.d})
    if (!each->start)
      return kBlasInvalidValue;
  ++engine.counted.products;
  auto run = [call, computes = engine.settings.products] {
    if (computes)
      call.run();
  };
  engine.add(stream, {nullptr, run, {place(a), place(b), place(c), place(d)}});
  return kBlasSuccess;
}
