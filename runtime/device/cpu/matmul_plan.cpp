//===- matmul_plan.cpp - a matrix product, normalised ---------------------===//

#include "runtime/device/cpu/matmul_plan.h"

#include "runtime/support/dtype.h"

#include <utility>

namespace zero::rt {

bool MatmulPlan::isEmpty() const {
  for (const BatchDim &dim : batch)
    if (dim.count == 0)
      return true;
  return c.elements() == 0;
}

static Status checkSizes(const proto::Matmul &desc) {
  if (desc.dtype() != proto::F32)
    return fail(ZERO_RT_UNSUPPORTED, "a matrix product of %s: expected float32",
                nameOf(static_cast<DType>(desc.dtype())));
  int expected = desc.batch_size() + 2;
  for (int got : {desc.a_strides_size(), desc.b_strides_size(), desc.c_strides_size()})
    if (got != expected)
      return fail(ZERO_RT_BAD_FILE, "a matrix product: expected %d strides, got %d", expected, got);
  uint64_t work = 1;
  auto grow = [&](uint64_t size) {
    return !__builtin_mul_overflow(work, size ? size : 1, &work) && work < (uint64_t(1) << 62);
  };
  bool fits = grow(desc.m()) && grow(desc.n()) && grow(desc.k());
  for (uint64_t size : desc.batch())
    fits = fits && grow(size);
  return fits ? Status() : fail(ZERO_RT_BAD_FILE, "a matrix product: its size overflows");
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

/// Adds a batch dimension, merged with the one before when it continues it.
static void addBatch(std::vector<BatchDim> &batch, BatchDim next) {
  if (next.count == 1)
    return;
  if (!batch.empty()) {
    BatchDim &last = batch.back();
    if (last.a == next.a * next.count && last.b == next.b * next.count &&
        last.c == next.c * next.count) {
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
    if (last.b != 0 || last.a == 0)
      return;
    if (plan.a.rows == 1) {
      plan.a.strides[0] = last.a;
      plan.c.strides[0] = last.c;
    } else if (last.a != plan.a.rows * plan.a.strides[0] ||
               last.c != plan.c.rows * plan.c.strides[0]) {
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

} // namespace zero::rt
