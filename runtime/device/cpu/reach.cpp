//===- reach.cpp - bytes that a kernel accesses ---------------------------===//

#include "runtime/device/cpu/reach.h"

#include "runtime/device/cpu/attention_plan.h"
#include "runtime/device/cpu/convolution_plan.h"
#include "runtime/device/cpu/matmul_plan.h"
#include "runtime/format/tables.h"
#include "runtime/support/checked.h"

namespace zero::rt {

// Far beyond any arena; a few of them cannot overflow.
static constexpr uint64_t kLargest = uint64_t(1) << 48;

using Strides = google::protobuf::RepeatedField<int64_t>;

/// Elements to behind the last one of the matrices of `product`.
static Status reachOf(const char *name, const proto::Matmul &product, const Strides &strides,
                      uint64_t rows, uint64_t columns, uint64_t &elements) {
  std::vector<uint64_t> counts(product.batch().begin(), product.batch().end());
  counts.insert(counts.end(), {rows, columns});
  elements = 0;
  if (std::find(counts.begin(), counts.end(), 0) != counts.end())
    return {};
  uint64_t last = 0, step;
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t stride = strides[int(i)];
    if (counts[i] == 1) // its stride says nothing
      continue;
    if (stride < 0)
      return fail(ZERO_RT_UNSUPPORTED, "a matrix product: expected strides of %s >= 0, got %lld",
                  name, static_cast<long long>(stride));
    bool fits = checkedMultiply(counts[i] - 1, uint64_t(stride), step) && step <= kLargest;
    last += fits ? step : 0;
    if (!fits || last > kLargest)
      return fail(ZERO_RT_BAD_FILE, "a matrix product: the strides of %s overflow", name);
  }
  elements = last + 1;
  return {};
}

/// Elements of each argument of a matrix product.
static Status reachOf(const proto::Matmul &product, std::vector<uint64_t> &elements) {
  MatmulPlan plan; // checks sizes, and the number of strides
  ZERO_RT_TRY(planMatmul(product, plan));
  uint64_t a, b, c;
  ZERO_RT_TRY(reachOf("A", product, product.a_strides(), product.m(), product.k(), a));
  ZERO_RT_TRY(reachOf("B", product, product.b_strides(), product.k(), product.n(), b));
  ZERO_RT_TRY(reachOf("C", product, product.c_strides(), product.m(), product.n(), c));
  elements = {a, b};
  if (product.bias())
    elements.push_back(product.n());
  if (product.residual())
    elements.push_back(c);
  elements.push_back(c);
  return {};
}

static Status reachOf(const proto::Convolution &convolution, std::vector<uint64_t> &elements) {
  ConvolutionPlan plan;
  ZERO_RT_TRY(planConvolution(convolution, plan));
  for (const std::vector<int64_t> &shape : plan.arguments())
    elements.push_back(saturatingProduct<uint64_t>(shape));
  return {};
}

static Status reachOf(const proto::Kernel &kernel, std::vector<uint64_t> &bytes, bool onGpu) {
  AttentionPlan plan;
  ZERO_RT_TRY(planAttention(kernel, plan, onGpu));
  for (const AttentionPlan::Argument &argument : plan.arguments)
    bytes.push_back(argument.bytes);
  return {};
}

Status planReach(const proto::Kernel &kernel, std::vector<uint64_t> &bytes, bool onGpu) {
  bytes.clear();
  if (kernel.has_attention())
    return reachOf(kernel, bytes, onGpu);
  if (!kernel.has_matmul() && !kernel.has_convolution())
    return {};
  std::vector<uint64_t> elements;
  ZERO_RT_TRY(kernel.has_matmul() ? reachOf(kernel.matmul(), elements)
                                  : reachOf(kernel.convolution(), elements));
  if (kernel.stored_size() > 0 && size_t(kernel.stored_size()) != elements.size())
    return fail(ZERO_RT_BAD_FILE, "expected the types of %zu arguments, got %d", elements.size(),
                kernel.stored_size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const bool given = int(i) < kernel.stored_size();
    const auto dtype = given ? static_cast<proto::DType>(kernel.stored(int(i))) : proto::F32;
    if (dtype != proto::F32 && dtype != proto::F16 && dtype != proto::BF16)
      return fail(ZERO_RT_BAD_FILE, "an argument is stored in a type that is not read");
    bytes.push_back(elements[i] * sizeOf(toDType(dtype)));
  }
  return {};
}

} // namespace zero::rt
