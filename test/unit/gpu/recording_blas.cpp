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

/// The meaning of the bytes of an algorithm here. The runtime may only store them.
struct Meaning {
  uint64_t alignment, number, seal;
  uint64_t expectedSeal() const { return (number + 1) * 0x9e3779b97f4a7c15 + alignment; }
};

static Meaning meaningOf(const BlasAlgorithm &algorithm) {
  Meaning meaning;
  std::memcpy(&meaning, &algorithm, sizeof(meaning));
  return meaning;
}

/// Products with a sum of more than a thousand terms require workspace here, so a plan without
/// workspace fails.
static uint64_t workspaceOf(const BlasLayout a, const BlasProduct product, uint64_t algorithm) {
  const bool transposed = product->numbers[kBlasProductTransposeA] == kBlasTransposed;
  const bool isLong = (transposed ? a->rows : a->columns) > 1000;
  return isLong || algorithm == kByHalves ? 4096 : 0;
}

EXPORT BlasStatus cublasLtMatmulAlgoGetHeuristic(BlasHandle, BlasProduct product, BlasLayout a,
                                                 BlasLayout b, BlasLayout c, BlasLayout d,
                                                 BlasPreference preference, int most,
                                                 BlasHeuristic *found, int *count) {
  const bool bias = product->numbers[kBlasProductEpilogue] == kBlasEpilogueBias;
  const bool types =
      a->type == b->type && c->type == d->type && (c->type == a->type || c->type == kBlasF32);
  if (!types || (bias && product->bias == 0))
    return kBlasNotSupported;
  if (preference->alignments[kBlasPreferenceReduction] != kBlasReductionComputeType)
    Engine::get().problem("a product that may add partial sums in the type of its result");
  *count = 0;
  for (uint64_t number = 0; number < kAlgorithms && *count < most; ++number) {
    const uint64_t needed = workspaceOf(a, product, number);
    if (needed > preference->workspace)
      continue;
    Meaning meaning{preference->alignments[kBlasPreferenceAlignmentA], number, 0};
    meaning.seal = meaning.expectedSeal();
    BlasHeuristic &each = found[(*count)++];
    each = {};
    each.workspace = needed;
    std::memcpy(&each.algorithm, &meaning, sizeof(meaning));
  }
  return kBlasSuccess;
}

EXPORT BlasStatus cublasLtMatmulAlgoCheck(BlasHandle, BlasProduct product, BlasLayout a, BlasLayout,
                                          BlasLayout, BlasLayout, const BlasAlgorithm *algorithm,
                                          BlasHeuristic *result) {
  const Meaning meaning = meaningOf(*algorithm);
  if (meaning.seal != meaning.expectedSeal() || meaning.number >= kAlgorithms)
    return kBlasInvalidValue;
  *result = {};
  result->algorithm = *algorithm;
  result->workspace = workspaceOf(a, product, meaning.number);
  return kBlasSuccess;
}

static DType dtypeOf(int type) {
  return type == kBlasF16 ? ZERO_RT_F16 : type == kBlasBF16 ? ZERO_RT_BF16 : ZERO_RT_F32;
}

namespace {
/// A matrix of a batch.
struct View {
  const BlasLayoutTag layout;
  char *start;
  uint64_t place; ///< on the device

  int64_t elementBytes() const { return int64_t(sizeOf(dtypeOf(layout.type))); }
  int64_t offset(int64_t batch, uint64_t column) const {
    return (batch * layout.stride + int64_t(column) * layout.leading) * elementBytes();
  }
  uint64_t columnBytes() const { return layout.rows * uint64_t(elementBytes()); }
  void getColumn(int64_t batch, uint64_t column, float *values) const {
    convertFloats(dtypeOf(layout.type), start + offset(batch, column), ZERO_RT_F32, values,
                  layout.rows);
  }
  void setColumn(int64_t batch, uint64_t column, const float *values) const {
    convertFloats(ZERO_RT_F32, values, dtypeOf(layout.type), start + offset(batch, column),
                  layout.rows);
  }
  /// All elements, column by column; of the transposed matrix, if `transposed`.
  std::vector<float> read(int64_t batch, bool transposed) const {
    const uint64_t rows = layout.rows, columns = layout.columns;
    std::vector<float> values(rows * columns), column(rows);
    for (uint64_t j = 0; j < columns; ++j) {
      getColumn(batch, j, column.data());
      for (uint64_t i = 0; i < rows; ++i)
        values[transposed ? i * columns + j : j * rows + i] = column[i];
    }
    return values;
  }
  /// Calls body(address on the device, bytes) for each column.
  template <typename Body>
  void forEachColumn(Body body) const {
    for (int64_t batch = 0; batch < layout.batch; ++batch)
      for (uint64_t column = 0; column < layout.columns; ++column)
        body(place + uint64_t(offset(batch, column)), columnBytes());
  }
  /// The number of bytes up to the end of the last element.
  static uint64_t reach(const BlasLayoutTag &layout) {
    return uint64_t((layout.batch - 1) * layout.stride + int64_t(layout.rows) +
                    int64_t(layout.columns - 1) * layout.leading) *
           sizeOf(dtypeOf(layout.type));
  }
};

struct Call {
  uint64_t algorithm;
  bool transposeA, transposeB;
  float alpha, beta;
  View a, b, c, d;
  std::optional<View> bias;

  /// The number of the term that is added as number `i` of `depth`.
  uint64_t termOf(uint64_t i, uint64_t depth) const {
    const uint64_t even = (depth + 1) / 2;
    switch (algorithm) {
    case 1:
      return depth - 1 - i;
    case 3:
      return i < even ? 2 * i : 2 * (i - even) + 1;
    default:
      return i;
    }
  }

  void run() const {
    const uint64_t rows = d.layout.rows, depth = transposeA ? a.layout.rows : a.layout.columns;
    const uint64_t half = algorithm == kByHalves ? depth / 2 : depth;
    std::vector<float> sums(rows), others(rows), added(rows), terms(rows);
    if (bias)
      bias->getColumn(0, 0, terms.data());
    for (int64_t batch = 0; batch < d.layout.batch; ++batch) {
      const std::vector<float> left = a.read(batch, transposeA), right = b.read(batch, transposeB);
      for (uint64_t column = 0; column < d.layout.columns; ++column) {
        std::fill(sums.begin(), sums.end(), 0.0f);
        std::fill(others.begin(), others.end(), 0.0f);
        for (uint64_t i = 0; i < depth; ++i) {
          const uint64_t k = termOf(i, depth);
          std::vector<float> &part = i < half ? sums : others;
          for (uint64_t row = 0; row < rows; ++row)
            part[row] += left[k * rows + row] * right[column * depth + k];
        }
        if (beta != 0)
          c.getColumn(batch, column, added.data());
        for (uint64_t row = 0; row < rows; ++row) {
          sums[row] = alpha * (sums[row] + others[row]) + (bias ? terms[row] : 0);
          sums[row] += beta != 0 ? beta * added[row] : 0;
        }
        d.setColumn(batch, column, sums.data());
      }
    }
  }

  /// What is read must have been written.
  void checkOperands() const {
    Engine &engine = Engine::get();
    auto check = [&](uint64_t place, uint64_t bytes) {
      engine.checkWritten(place, bytes, "cublasLtMatmul");
    };
    a.forEachColumn(check);
    b.forEachColumn(check);
    if (beta != 0)
      c.forEachColumn(check);
    if (bias)
      bias->forEachColumn(check);
  }
};
} // namespace

/// Milliseconds that a product takes with an algorithm, of any size.
static double timeOf(const Engine &engine, uint64_t algorithm) {
  const int device = current() ? current()->device : 0;
  if (algorithm == uint64_t(engine.settings.fastest + device) % kAlgorithms)
    return 10;
  return algorithm == kSlow ? 16 : 12 + double(algorithm);
}

EXPORT BlasStatus cublasLtMatmul(BlasHandle, BlasProduct product, const void *alpha, const void *a,
                                 BlasLayout aLayout, const void *b, BlasLayout bLayout,
                                 const void *beta, const void *c, BlasLayout cLayout, void *d,
                                 BlasLayout dLayout, const BlasAlgorithm *algorithm,
                                 void *workspace, size_t bytes, Stream stream) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  const Meaning meaning = meaningOf(*algorithm);
  if (meaning.seal != meaning.expectedSeal()) {
    engine.problem("cublasLtMatmul: an algorithm that the library has not made");
    return kBlasInvalidValue;
  }
  if (int(meaning.number) == engine.settings.refused)
    return kBlasNotSupported;
  auto place = [](const void *pointer) { return reinterpret_cast<uint64_t>(pointer); };
  auto view = [&](const void *pointer, BlasLayout layout) {
    if (place(pointer) % meaning.alignment != 0)
      engine.problem("cublasLtMatmul: an operand is not aligned as was promised");
    return View{*layout, engine.translate(place(pointer), View::reach(*layout), "cublasLtMatmul"),
                place(pointer)};
  };
  if (bytes < workspaceOf(aLayout, product, meaning.number) ||
      (bytes > 0 && place(workspace) % 256 != 0))
    engine.problem("cublasLtMatmul: the workspace is not what was promised");
  if (bytes > 0)
    engine.translate(place(workspace), bytes, "the workspace of cublasLtMatmul");
  const bool hasBias = product->numbers[kBlasProductEpilogue] == kBlasEpilogueBias;
  Call call{meaning.number,
            product->numbers[kBlasProductTransposeA] == kBlasTransposed,
            product->numbers[kBlasProductTransposeB] == kBlasTransposed,
            *static_cast<const float *>(alpha),
            *static_cast<const float *>(beta),
            view(a, aLayout),
            view(b, bLayout),
            view(c, cLayout),
            view(d, dLayout),
            std::nullopt};
  if (hasBias) {
    const BlasLayoutTag vector{dLayout->type, dLayout->rows, 1, int64_t(dLayout->rows)};
    call.bias.emplace(View{vector, engine.translate(product->bias, View::reach(vector), "a bias"),
                           product->bias});
  }
  for (const View *each : {&call.a, &call.b, &call.c, &call.d, call.bias ? &*call.bias : &call.d})
    if (!each->start)
      return kBlasInvalidValue;
  ++engine.counted.products;
  ++engine.counted.algorithms[meaning.number];
  const double milliseconds = timeOf(engine, meaning.number);
  auto run = [&engine, call, milliseconds] {
    engine.clock += milliseconds;
    call.checkOperands();
    call.run();
    call.d.forEachColumn([&](uint64_t at, uint64_t count) { engine.wrote(at, count); });
  };
  engine.start(stream, {nullptr, run, {place(a), place(b), place(c), place(d)}});
  return kBlasSuccess;
}
