//===- mixed_plan.cpp - plan a kernel with 16-bit arguments ---------------===//

#include "runtime/device/cpu/mixed_plan.h"

#include "runtime/device/cpu/convolution_plan.h"
#include "runtime/device/cpu/library.h"
#include "runtime/device/cpu/matmul_plan.h"
#include "runtime/support/checked.h"

#include <algorithm>

namespace zero::rt {

/// Elements of a copy: far beyond any tensor, and sums of a few cannot overflow.
static constexpr uint64_t kLargest = uint64_t(1) << 48;
/// Copies that need not be smaller.
static constexpr uint64_t kSmall = uint64_t(1) << 20;
/// Rows or columns of a block: enough for full speed.
static constexpr uint64_t kBlock = 256;

uint64_t MixedArgument::elements() const {
  std::vector<uint64_t> counts;
  for (const Dim &dim : dims)
    counts.push_back(dim.count);
  return saturatingProduct<uint64_t>(counts);
}

uint64_t MixedPart::bytes() const {
  uint64_t bytes = 0;
  for (const MixedArgument &argument : arguments)
    if (argument.isCopied())
      bytes += alignUp(argument.elements() * sizeof(float));
  return bytes;
}

namespace {
using Dim = MixedArgument::Dim;
using Strides = google::protobuf::RepeatedField<int64_t>;

/// The dimension along which a product is divided.
enum class Cut { None, Batch, Rows, Columns };
} // namespace

//===----------------------------------------------------------------------===//
// Places of arguments
//===----------------------------------------------------------------------===//

/// The dimensions of a product's operand. `strides` become those of a copy without gaps, batch by
/// batch, and each matrix in the order of its strides, so that both sides of a copy are accessed
/// contiguously. A stride of 0 remains 0: a repeated operand is copied once.
static std::vector<Dim> describeOperand(const proto::Matmul &product, uint64_t rows,
                                        uint64_t columns, Strides &strides) {
  const int batch = product.batch_size();
  auto extent = [&](int i) { return i < batch ? product.batch(i) : i == batch ? rows : columns; };
  std::vector<int> order;
  for (int i = 0; i < batch + 2; ++i)
    order.push_back(i);
  if (columns != 1 && strides[batch + 1] > strides[batch])
    std::swap(order[size_t(batch)], order[size_t(batch + 1)]);
  std::vector<Dim> dims;
  int64_t dense = 1;
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (extent(*it) != 1 && strides[*it] != 0) {
      dims.insert(dims.begin(), {extent(*it), strides[*it]});
      strides[*it] = dense;
      dense *= static_cast<int64_t>(std::max<uint64_t>(extent(*it), 1));
    }
  return dims;
}

/// Joins dimensions that continue each other, so that runs are long.
static void joinDims(std::vector<Dim> &dims) {
  std::vector<Dim> joined;
  int64_t reach;
  for (const Dim &dim : dims) {
    if (!joined.empty() && checkedMultiply(int64_t(dim.count), dim.stride, reach) &&
        joined.back().stride == reach)
      joined.back() = {joined.back().count * dim.count, dim.stride};
    else
      joined.push_back(dim);
  }
  dims = std::move(joined);
}

static Status finishArguments(std::vector<MixedArgument> &arguments) {
  for (MixedArgument &argument : arguments) {
    if (argument.elements() > kLargest)
      return fail(ZERO_RT_BAD_FILE, "an argument of %llu elements",
                  static_cast<unsigned long long>(argument.elements()));
    if (argument.elements() == 0)
      argument.dims = {{0, 1}};
    joinDims(argument.dims);
  }
  return {};
}

static DType storedAs(const proto::Kernel &kernel, size_t argument) {
  return static_cast<DType>(kernel.stored(static_cast<int>(argument)));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// How large `product` is along `cut`.
static uint64_t extentOf(const proto::Matmul &product, Cut cut) {
  if (cut == Cut::Batch)
    return product.batch_size() > 0 ? product.batch(0) : 1;
  return cut == Cut::Rows ? product.m() : product.n();
}

static void setExtent(proto::Matmul &product, Cut cut, uint64_t extent) {
  if (cut == Cut::Batch)
    product.set_batch(0, extent);
  else if (cut == Cut::Rows)
    product.set_m(extent);
  else if (cut == Cut::Columns)
    product.set_n(extent);
}

/// A block of `kernel`, `size` along `cut`; blocks are `step` of it apart.
static Status describeBlock(const proto::Kernel &kernel, Cut cut, uint64_t size, uint64_t step,
                            MixedPart &part) {
  part.kernel = kernel;
  part.kernel.clear_stored();
  proto::Matmul &product = *part.kernel.mutable_matmul();
  setExtent(product, cut, size);
  const int batch = product.batch_size();
  // `along`: the dimension that is cut, as one of the operand's; -1: none.
  auto add = [&](uint64_t rows, uint64_t columns, Strides *strides, int along) {
    MixedArgument argument;
    argument.stored = storedAs(kernel, part.arguments.size());
    if (along >= 0) // of a damaged table it may be anything
      argument.step = static_cast<int64_t>(step * static_cast<uint64_t>((*strides)[along]));
    if (argument.isCopied())
      argument.dims = describeOperand(product, rows, columns, *strides);
    part.arguments.push_back(std::move(argument));
  };
  const int first = cut == Cut::Batch ? 0 : -1;
  add(product.m(), product.k(), product.mutable_a_strides(), cut == Cut::Rows ? batch : first);
  add(product.k(), product.n(), product.mutable_b_strides(),
      cut == Cut::Columns ? batch + 1 : first);
  if (product.bias()) {
    MixedArgument bias;
    bias.stored = storedAs(kernel, part.arguments.size());
    bias.dims = {{product.n(), 1}};
    bias.step = cut == Cut::Columns ? static_cast<int64_t>(step) : 0;
    part.arguments.push_back(bias);
  }
  const int along = cut == Cut::Rows ? batch : cut == Cut::Columns ? batch + 1 : first;
  if (product.residual()) {
    Strides strides = product.c_strides(); // as of C, whose copy changes them
    add(product.m(), product.n(), &strides, along);
  }
  add(product.m(), product.n(), product.mutable_c_strides(), along);
  part.arguments.back().isRead = product.accumulate();
  part.arguments.back().isWritten = true;
  return finishArguments(part.arguments);
}

/// Selects the division with the smallest copies, if copies of the full arguments are large.
static Status planBlocks(const proto::Kernel &kernel, MixedPlan &plan) {
  MatmulPlan checked;
  ZERO_RT_TRY(planMatmul(kernel.matmul(), checked));
  ZERO_RT_TRY(describeBlock(kernel, Cut::None, 0, 0, plan.main));
  uint64_t least = plan.main.bytes();
  if (least <= kSmall)
    return {};
  for (Cut cut : {Cut::Batch, Cut::Rows, Cut::Columns}) {
    const uint64_t extent = extentOf(kernel.matmul(), cut);
    const uint64_t size = cut == Cut::Batch ? 1 : kBlock;
    MixedPlan cutPlan;
    if (extent <= size)
      continue;
    ZERO_RT_TRY(describeBlock(kernel, cut, size, size, cutPlan.main));
    if (cutPlan.main.bytes() >= least)
      continue;
    least = cutPlan.main.bytes();
    cutPlan.blocks = (extent + size - 1) / size;
    if (extent % size != 0)
      ZERO_RT_TRY(describeBlock(kernel, cut, extent % size, size, cutPlan.rest.emplace()));
    plan = std::move(cutPlan);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// All arguments are without gaps and are copied in full.
static Status planWhole(const proto::Kernel &kernel, MixedPart &part) {
  ConvolutionPlan plan;
  ZERO_RT_TRY(planConvolution(kernel.convolution(), plan));
  part.kernel = kernel;
  part.kernel.clear_stored();
  for (const std::vector<int64_t> &shape : plan.arguments()) {
    MixedArgument argument;
    argument.stored = storedAs(kernel, part.arguments.size());
    argument.dims = {{saturatingProduct<uint64_t>(shape), 1}};
    part.arguments.push_back(std::move(argument));
  }
  part.arguments.back().isRead = false;
  part.arguments.back().isWritten = true;
  return finishArguments(part.arguments);
}

Status checkStored(const proto::Kernel &kernel) {
  const bool bias = kernel.matmul().bias() || kernel.convolution().bias();
  const int expected = 3 + bias + kernel.matmul().residual();
  if (kernel.stored_size() != expected)
    return fail(ZERO_RT_BAD_FILE, "expected the types of %d arguments, got %d", expected,
                kernel.stored_size());
  for (int dtype : kernel.stored())
    if (dtype != proto::F32 && dtype != proto::F16 && dtype != proto::BF16)
      return fail(ZERO_RT_UNSUPPORTED, "an argument of %s: expected float32, float16 or bfloat16",
                  nameOf(static_cast<DType>(dtype)));
  if (kernel.matmul().residual() && kernel.stored(expected - 2) != kernel.stored(expected - 1))
    return fail(ZERO_RT_UNSUPPORTED, "a product's residual is stored in another type than C");
  return {};
}

/// Assigns a place to each copy. Copies that all blocks need have the same place in both parts.
static void placeCopies(MixedPlan &plan) {
  uint64_t next = 0;
  for (size_t i = 0; i < plan.main.arguments.size(); ++i) {
    MixedArgument &argument = plan.main.arguments[i];
    argument.offset = next;
    if (plan.rest)
      plan.rest->arguments[i].offset = next;
    if (argument.isCopied())
      next += alignUp(argument.elements() * sizeof(float));
  }
}

Status planMixed(const proto::Kernel &kernel, MixedPlan &plan) {
  ZERO_RT_TRY(checkStored(kernel));
  if (kernel.has_matmul())
    ZERO_RT_TRY(planBlocks(kernel, plan));
  else if (kernel.has_convolution())
    ZERO_RT_TRY(planWhole(kernel, plan.main));
  else
    return fail(ZERO_RT_BAD_FILE, "expected a matrix product or a convolution");
  placeCopies(plan);
  return {};
}

} // namespace zero::rt
