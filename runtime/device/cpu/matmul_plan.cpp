//===- matmul_plan.cpp - normalize a matrix product -----------------------===//

#include "runtime/device/cpu/matmul_plan.h"

#include "runtime/support/checked.h"
#include "runtime/support/dtype.h"

#include <algorithm>
#include <utility>

namespace zero::rt {

/// oneDNN counts rows and columns in 32 bits in places and then divides by zero. Larger products
/// are compiled, as are larger convolutions.
static constexpr int64_t kLargestSide = int64_t(1) << 30;

bool MatmulPlan::isEmpty() const {
  for (const BatchDim &dim : batch)
    if (dim.count == 0)
      return true;
  return c.elements() == 0;
}

static Status checkSizes(const proto::Matmul &desc) {
  if (desc.dtype() != proto::F32 && desc.dtype() != proto::F16 && desc.dtype() != proto::BF16)
    return fail(ZERO_RT_UNSUPPORTED,
                "a matrix product of %s: expected float32, float16 or bfloat16",
                nameOf(static_cast<DType>(desc.dtype())));
  int expected = desc.batch_size() + 2;
  for (int got : {desc.a_strides_size(), desc.b_strides_size(), desc.c_strides_size()})
    if (got != expected)
      return fail(ZERO_RT_BAD_FILE, "a matrix product: expected %d strides, got %d", expected, got);
  std::vector<uint64_t> sizes(desc.batch().begin(), desc.batch().end());
  sizes.insert(sizes.end(), {desc.m(), desc.n(), desc.k()});
  for (uint64_t &size : sizes) {
    if (size > kLargestSide)
      return fail(ZERO_RT_UNSUPPORTED,
                  "a matrix product: expected at most %lld rows, columns and matrices, got %llu",
                  static_cast<long long>(kLargestSide), static_cast<unsigned long long>(size));
    size = std::max<uint64_t>(size, 1);
  }
  uint64_t work = 1;
  return checkedProduct(sizes, (uint64_t(1) << 62) - 1, work)
             ? Status()
             : fail(ZERO_RT_BAD_FILE, "a matrix product: its size overflows");
}

/// A dimension of size 1 may carry any stride; gives it the one that makes the
/// matrix dense, if the other dimension allows.
static void tidyUnitStrides(Matrix &matrix) {
  auto &[outer, inner] = matrix.strides;
  if (matrix.columns == 1 && matrix.rows == 1)
    outer = inner = 1;
  else if (matrix.columns == 1)
    inner = outer == 1 ? matrix.rows : 1;
  else if (matrix.rows == 1)
    outer = inner == 1 ? matrix.columns : 1;
}

static Status checkStrides(const char *name, const Matrix &matrix) {
  for (int64_t stride : matrix.strides)
    if (stride <= 0 && matrix.elements() > 0)
      return fail(ZERO_RT_UNSUPPORTED,
                  "a matrix product: expected positive strides in %s, got %lld", name,
                  static_cast<long long>(stride));
  return {};
}

/// Whether `outer` is the stride of a dimension around `count` elements of stride `inner`.
static bool continues(int64_t outer, int64_t inner, int64_t count) {
  int64_t whole;
  return checkedMultiply(inner, count, whole) && outer == whole;
}

/// Whether `count` of `size` can be one dimension.
static bool fitTogether(int64_t count, int64_t size) {
  return size <= kLargestSide / std::max<int64_t>(count, 1);
}

/// Adds a batch dimension, merged with the one before when it continues it.
static void addBatch(std::vector<BatchDim> &batch, BatchDim next) {
  if (next.count == 1)
    return;
  if (!batch.empty()) {
    BatchDim &last = batch.back();
    if (fitTogether(next.count, last.count) && continues(last.a, next.a, next.count) &&
        continues(last.b, next.b, next.count) && continues(last.c, next.c, next.count)) {
      last = {last.count * next.count, next.a, next.b, next.c};
      return;
    }
  }
  batch.push_back(next);
}

/// A batch over which B is repeated is only more rows of A and C.
static void foldBatchIntoRows(MatmulPlan &plan) {
  while (!plan.batch.empty()) {
    BatchDim last = plan.batch.back();
    if (last.b != 0 || last.a == 0 || !fitTogether(last.count, plan.a.rows))
      return;
    if (plan.a.rows == 1) {
      plan.a.strides[0] = last.a;
      plan.c.strides[0] = last.c;
    } else if (!continues(last.a, plan.a.strides[0], plan.a.rows) ||
               !continues(last.c, plan.c.strides[0], plan.c.rows)) {
      return;
    }
    plan.a.rows *= last.count;
    plan.c.rows *= last.count;
    plan.batch.pop_back();
  }
}

static void transposeProduct(MatmulPlan &plan) {
  std::swap(plan.a, plan.b);
  for (Matrix *matrix : {&plan.a, &plan.b, &plan.c})
    *matrix = matrix->transposed();
  for (BatchDim &dim : plan.batch)
    std::swap(dim.a, dim.b);
  plan.swapped = true;
}

Status planMatmul(const proto::Matmul &desc, MatmulPlan &plan) {
  ZERO_RT_TRY(checkSizes(desc));
  int rank = desc.batch_size();
  auto matrix = [&](const auto &strides, uint64_t rows, uint64_t columns) {
    return Matrix{int64_t(rows), int64_t(columns), {strides[rank], strides[rank + 1]}};
  };
  plan.a = matrix(desc.a_strides(), desc.m(), desc.k());
  plan.b = matrix(desc.b_strides(), desc.k(), desc.n());
  plan.c = matrix(desc.c_strides(), desc.m(), desc.n());
  plan.alpha = desc.alpha();
  plan.bias = desc.bias();
  plan.accumulate = desc.accumulate();
  plan.residual = desc.residual();
  for (int i = 0; i < rank; ++i) {
    BatchDim dim{int64_t(desc.batch(i)), desc.a_strides(i), desc.b_strides(i), desc.c_strides(i)};
    if (dim.count > 1 && (dim.a < 0 || dim.b < 0 || dim.c <= 0))
      return fail(ZERO_RT_UNSUPPORTED,
                  "a matrix product: expected batch strides of A and B >= 0 and of C > 0, got "
                  "%lld, %lld and %lld",
                  static_cast<long long>(dim.a), static_cast<long long>(dim.b),
                  static_cast<long long>(dim.c));
    addBatch(plan.batch, dim);
  }
  foldBatchIntoRows(plan);
  for (Matrix *operand : {&plan.a, &plan.b, &plan.c})
    tidyUnitStrides(*operand);
  ZERO_RT_TRY(checkStrides("A", plan.a));
  ZERO_RT_TRY(checkStrides("B", plan.b));
  ZERO_RT_TRY(checkStrides("C", plan.c));
  if (plan.c.strides[1] != 1 && plan.c.strides[0] == 1)
    transposeProduct(plan);
  plan.reorderB = desc.reorder_b() && plan.batch.empty() && !plan.swapped;
  return {};
}

std::optional<Matrix> blockForCaches(const MatmulPlan &plan) {
  constexpr int64_t kSharedSets = 2048 / sizeof(float), kCacheLine = 64 / sizeof(float);
  const auto &[row, column] = plan.a.strides;
  // A bias along rows would have to be divided, too.
  if (row != 1 || column % kSharedSets != 0 || plan.a.columns == 1 || (plan.bias && plan.swapped))
    return std::nullopt;
  // oneDNN 2.6, src/cpu/x64/gemm/gemm_driver.cpp, nocopy_checker_avx2.
  const bool isInPlace = 1.0 / double(plan.c.rows) + 1.0 / double(plan.c.columns) >= 0.0038;
  // An element that is copied must be used so often that the copy is worth its time.
  constexpr int64_t kUses = 64;
  if (!isInPlace || plan.c.columns < kUses)
    return std::nullopt;
  // A block stays in the second-level cache. With fewer rows the product becomes slower.
  constexpr int64_t kElements = (512 << 10) / sizeof(float), kLeastRows = 64;
  int64_t rows = plan.a.rows;
  while (rows % 2 == 0 && rows > kLeastRows && rows * plan.a.columns > kElements)
    rows /= 2;
  return Matrix{rows, plan.a.columns, {1, rows + kCacheLine}};
}

void divideRows(MatmulPlan &plan, int64_t rows) {
  plan.batch.push_back({plan.a.rows / rows, rows * plan.a.strides[0], 0, rows * plan.c.strides[0]});
  plan.a.rows = plan.c.rows = rows;
}

} // namespace zero::rt
