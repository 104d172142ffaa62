//===- columns.cpp - matrix products as cuBLASLt takes them ---------------===//

#include "runtime/device/cuda/columns.h"

#include "runtime/device/cpu/matmul_plan.h"
#include "runtime/format/tables.h"

#include <algorithm>

namespace zero::rt::cuda {

namespace {

Status unsupported(const char *what) {
  return fail(ZERO_RT_UNSUPPORTED, "a matrix product on a GPU: %s", what);
}

/// `matrix`, whose rows are this operand's columns.
Status toColumns(const Matrix &matrix, Columns &operand) {
  const auto [outer, inner] = matrix.strides;
  operand.transposed = inner != 1;
  operand.leading = inner == 1 ? outer : inner;
  operand.rows = uint64_t(inner == 1 ? matrix.columns : matrix.rows);
  operand.columns = uint64_t(inner == 1 ? matrix.rows : matrix.columns);
  if (inner != 1 && outer != 1)
    return unsupported("neither rows nor columns of an operand are contiguous");
  return operand.leading < int64_t(operand.rows) ? unsupported("rows of an operand overlap")
                                                 : Status();
}

/// The longest dimension becomes the library's batch, of all others each index a call.
void cutBatch(const std::vector<BatchDim> &dims, Columnwise &product) {
  product.calls = {Offsets()};
  if (dims.empty())
    return;
  auto inner = std::max_element(dims.begin(), dims.end(), [](const auto &one, const auto &other) {
    return one.count < other.count;
  });
  product.batch = inner->count;
  product.left.batchStride = inner->b; // B's columns are on the left
  product.right.batchStride = inner->a;
  product.result.batchStride = inner->c;
  for (auto dim = dims.begin(); dim != dims.end(); ++dim) {
    if (dim == inner)
      continue;
    std::vector<Offsets> all;
    for (const Offsets &each : product.calls)
      for (int64_t i = 0; i < dim->count; ++i)
        all.push_back({each.left + i * dim->b, each.right + i * dim->a, each.result + i * dim->c});
    product.calls = std::move(all);
  }
}

Status setTypes(const proto::Kernel &kernel, Columnwise &product) {
  auto stored = [&](int argument) {
    return argument < kernel.stored_size() ? toDType(proto::DType(kernel.stored(argument)))
                                           : ZERO_RT_F32;
  };
  const int result = 2 + product.bias + product.residual;
  product.left.dtype = stored(product.swapped ? 0 : 1);
  product.right.dtype = stored(product.swapped ? 1 : 0);
  product.result.dtype = stored(result);
  if (product.left.dtype != product.right.dtype)
    return fail(ZERO_RT_UNSUPPORTED,
                "a matrix product on a GPU: A and B of different types, %s and %s",
                nameOf(stored(0)), nameOf(stored(1)));
  if (product.result.dtype != product.left.dtype && product.result.dtype != ZERO_RT_F32)
    return fail(ZERO_RT_UNSUPPORTED, "a matrix product on a GPU: of %s with a result of %s",
                nameOf(product.left.dtype), nameOf(product.result.dtype));
  for (int argument = 2; argument < result; ++argument)
    if (stored(argument) != product.result.dtype)
      return fail(ZERO_RT_UNSUPPORTED, "a matrix product on a GPU: adds %s to a result of %s",
                  nameOf(stored(argument)), nameOf(product.result.dtype));
  return {};
}

/// One column is as good as a row-major matrix, to which a bias can be added.
void keepColumn(MatmulPlan &plan) {
  if (!plan.swapped || !plan.bias || plan.c.rows != 1)
    return;
  std::swap(plan.a, plan.b);
  for (Matrix *matrix : {&plan.a, &plan.b, &plan.c})
    *matrix = matrix->transposed();
  for (BatchDim &dim : plan.batch)
    std::swap(dim.a, dim.b);
  plan.c.strides[1] = 1;
  plan.swapped = false;
}

} // namespace

Status toColumnwise(const proto::Kernel &kernel, Columnwise &product) {
  MatmulPlan plan;
  ZERO_RT_TRY(planMatmul(kernel.matmul(), plan));
  keepColumn(plan);
  product.alpha = plan.alpha;
  product.bias = plan.bias;
  product.residual = plan.residual;
  product.accumulate = plan.accumulate;
  product.swapped = plan.swapped;
  if (plan.isEmpty())
    return {};
  if (plan.a.columns == 0)
    return unsupported("it sums nothing");
  if (plan.swapped && plan.bias)
    return unsupported("a bias where the columns of C are contiguous, not its rows");
  if (plan.residual && plan.accumulate)
    return unsupported("two matrices to add to it");
  ZERO_RT_TRY(toColumns(plan.b, product.left));
  ZERO_RT_TRY(toColumns(plan.a, product.right));
  ZERO_RT_TRY(toColumns(plan.c, product.result));
  if (product.result.transposed)
    return unsupported("neither rows nor columns of C are contiguous");
  cutBatch(plan.batch, product);
  return setTypes(kernel, product);
}

} // namespace zero::rt::cuda
