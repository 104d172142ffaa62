//===- mixed.cpp - library kernels with 16-bit arguments ------------------===//

#include "runtime/device/cpu/mixed.h"

#include "runtime/device/cpu/convolution_plan.h"
#include "runtime/device/cpu/matmul_plan.h"
#include "runtime/support/half.h"

#include <algorithm>

namespace zero::rt {

/// Elements of a copy: far beyond any tensor, and sums of a few cannot overflow.
static constexpr uint64_t kLargest = uint64_t(1) << 48;

bool isMixed(const proto::Kernel &kernel) {
  return std::any_of(kernel.stored().begin(), kernel.stored().end(),
                     [](int dtype) { return dtype != proto::F32; });
}

uint64_t MixedArgument::elements() const {
  uint64_t count = 1;
  for (const Dim &dim : dims)
    count *= dim.count;
  return count;
}

//===----------------------------------------------------------------------===//
// Where arguments lie
//===----------------------------------------------------------------------===//

namespace {
using Dim = MixedArgument::Dim;
using Strides = google::protobuf::RepeatedField<int64_t>;
} // namespace

/// The dimensions of a product's operand. `strides` become those of a copy without
/// gaps: batch by batch, and each matrix in the order of its own strides, so that both
/// sides of a copy are walked along what is contiguous. A stride of 0 stays: what is
/// repeated is copied once.
static std::vector<Dim> describeOperand(const proto::Matmul &product, uint64_t rows,
                                        uint64_t columns, Strides &strides) {
  std::vector<int> order;
  for (int i = 0; i < product.batch_size() + 2; ++i)
    order.push_back(i);
  auto extent = [&](int i) {
    return i < product.batch_size() ? product.batch(i) : i == product.batch_size() ? rows : columns;
  };
  const int last = product.batch_size() + 1;
  if (extent(last) != 1 && strides[last] > strides[last - 1])
    std::swap(order[size_t(last)], order[size_t(last - 1)]);
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
    if (!joined.empty() && !__builtin_mul_overflow(int64_t(dim.count), dim.stride, &reach) &&
        joined.back().stride == reach)
      joined.back() = {joined.back().count * dim.count, dim.stride};
    else
      joined.push_back(dim);
  }
  dims = std::move(joined);
}

/// The arguments of a product; `product` becomes that of the copies.
static Status describeMatmul(const proto::Kernel &kernel, proto::Matmul &product,
                             std::vector<MixedArgument> &arguments) {
  MatmulPlan checked;
  ZERO_RT_TRY(planMatmul(product, checked));
  auto add = [&](uint64_t rows, uint64_t columns, Strides *strides) {
    MixedArgument argument;
    argument.stored = static_cast<DType>(kernel.stored(static_cast<int>(arguments.size())));
    if (argument.stored != ZERO_RT_F32)
      argument.dims = describeOperand(product, rows, columns, *strides);
    arguments.push_back(argument);
  };
  add(product.m(), product.k(), product.mutable_a_strides());
  add(product.k(), product.n(), product.mutable_b_strides());
  if (product.bias()) {
    MixedArgument bias;
    bias.stored = static_cast<DType>(kernel.stored(2));
    bias.dims = {{product.n(), 1}};
    arguments.push_back(bias);
  }
  add(product.m(), product.n(), product.mutable_c_strides());
  arguments.back().isRead = product.accumulate();
  arguments.back().isWritten = true;
  return {};
}

/// The arguments of a convolution, all without gaps.
static Status describeConvolution(const proto::Kernel &kernel,
                                  std::vector<MixedArgument> &arguments) {
  ConvolutionPlan plan;
  ZERO_RT_TRY(planConvolution(kernel.convolution(), plan));
  const std::vector<int64_t> bias{plan.output[1]};
  std::vector<const std::vector<int64_t> *> shapes;
  if (plan.direction == proto::Convolution::FORWARD)
    shapes = {&plan.input, &plan.weights, &plan.output};
  else if (plan.direction == proto::Convolution::BACKWARD_DATA)
    shapes = {&plan.output, &plan.weights, &plan.input};
  else
    shapes = {&plan.output, &plan.input, &plan.weights};
  if (plan.bias)
    shapes.insert(shapes.begin() + 2, &bias);
  for (const std::vector<int64_t> *shape : shapes) {
    MixedArgument argument;
    argument.stored = static_cast<DType>(kernel.stored(static_cast<int>(arguments.size())));
    argument.isWritten = shape == shapes.back();
    argument.isRead = !argument.isWritten;
    uint64_t count = 1;
    for (int64_t size : *shape)
      count *= static_cast<uint64_t>(size);
    argument.dims = {{count, 1}};
    arguments.push_back(argument);
  }
  return {};
}

static Status checkStored(const proto::Kernel &kernel) {
  const int expected = kernel.matmul().bias() || kernel.convolution().bias() ? 4 : 3;
  if (kernel.stored_size() != expected)
    return fail(ZERO_RT_BAD_FILE, "expected the types of %d arguments, got %d", expected,
                kernel.stored_size());
  for (int dtype : kernel.stored())
    if (dtype != proto::F32 && dtype != proto::F16 && dtype != proto::BF16)
      return fail(ZERO_RT_UNSUPPORTED, "an argument of %s: expected float32, float16 or bfloat16",
                  nameOf(static_cast<DType>(dtype)));
  return {};
}

Status MixedKernel::create(const proto::Kernel &kernel, int threads,
                           std::unique_ptr<MixedKernel> &mixed) {
  ZERO_RT_TRY(checkStored(kernel));
  auto made = std::make_unique<MixedKernel>();
  proto::Kernel plain = kernel;
  plain.clear_stored();
  if (kernel.has_matmul())
    ZERO_RT_TRY(describeMatmul(kernel, *plain.mutable_matmul(), made->arguments));
  else if (kernel.has_convolution())
    ZERO_RT_TRY(describeConvolution(kernel, made->arguments));
  for (const MixedArgument &argument : made->arguments)
    if (argument.elements() > kLargest)
      return fail(ZERO_RT_BAD_FILE, "an argument of %llu elements",
                  static_cast<unsigned long long>(argument.elements()));
  ZERO_RT_TRY(makeLibraryKernel(plain, threads, made->inner));
  made->workspace = alignUp(made->inner->getWorkspace());
  for (MixedArgument &argument : made->arguments) {
    if (argument.stored == ZERO_RT_F32)
      continue;
    argument.offset = made->workspace;
    made->workspace += alignUp(argument.elements() * sizeof(float));
    if (argument.elements() == 0)
      argument.dims = {{0, 1}};
    joinDims(argument.dims);
  }
  mixed = std::move(made);
  return {};
}

//===----------------------------------------------------------------------===//
// Copying
//===----------------------------------------------------------------------===//

/// Elements that lie apart are collected this many at a time.
static constexpr uint64_t kChunk = 512;

static void widenRun(DType stored, const uint16_t *from, Dim run, float *to) {
  if (run.stride == 1)
    return widenHalves(stored, from, to, run.count);
  uint16_t chunk[kChunk];
  for (uint64_t start = 0; start < run.count; start += kChunk) {
    const uint64_t count = std::min(kChunk, run.count - start);
    for (uint64_t i = 0; i < count; ++i)
      chunk[i] = from[int64_t(start + i) * run.stride];
    widenHalves(stored, chunk, to + start, count);
  }
}

static void narrowRun(DType stored, const float *from, Dim run, uint16_t *to) {
  if (run.stride == 1)
    return narrowToHalves(stored, from, to, run.count);
  uint16_t chunk[kChunk];
  for (uint64_t start = 0; start < run.count; start += kChunk) {
    const uint64_t count = std::min(kChunk, run.count - start);
    narrowToHalves(stored, from + start, chunk, count);
    for (uint64_t i = 0; i < count; ++i)
      to[int64_t(start + i) * run.stride] = chunk[i];
  }
}

/// Calls body(stored, dense, run) for each run of the innermost dimension from
/// dimension `depth` on; both pointers advance over what the inner ones hold.
template <typename Body>
static void forEachRun(const std::vector<Dim> &dims, size_t depth, uint16_t *stored, float *&dense,
                       Body body) {
  if (depth + 1 >= dims.size()) {
    const Dim run = dims.empty() ? Dim{1, 1} : dims.back();
    body(stored, dense, run);
    dense += run.count;
    return;
  }
  for (uint64_t i = 0; i < dims[depth].count; ++i)
    forEachRun(dims, depth + 1, stored + int64_t(i) * dims[depth].stride, dense, body);
}

static void widen(const MixedArgument &argument, void *stored, float *dense) {
  forEachRun(argument.dims, 0, static_cast<uint16_t *>(stored), dense,
             [&](uint16_t *from, float *to, Dim run) { widenRun(argument.stored, from, run, to); });
}

static void narrow(const MixedArgument &argument, float *dense, void *stored) {
  forEachRun(
      argument.dims, 0, static_cast<uint16_t *>(stored), dense,
      [&](uint16_t *to, float *from, Dim run) { narrowRun(argument.stored, from, run, to); });
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

class MixedKernel::Call : public LibraryCall {
public:
  Call(const MixedKernel &kernel, std::unique_ptr<LibraryCall> inner)
      : kernel(kernel), inner(std::move(inner)) {}

  Status run(void *const *args) override {
    const std::vector<MixedArgument> &arguments = kernel.arguments;
    auto *workspace = kernel.workspace ? static_cast<char *>(args[arguments.size()]) : nullptr;
    std::array<void *, kMostArguments + 1> plain{};
    plain[arguments.size()] = workspace;
    for (size_t i = 0; i < arguments.size(); ++i) {
      plain[i] = args[i];
      if (arguments[i].stored == ZERO_RT_F32)
        continue;
      plain[i] = workspace + arguments[i].offset;
      if (arguments[i].isRead)
        widen(arguments[i], args[i], static_cast<float *>(plain[i]));
    }
    ZERO_RT_TRY(inner->run(plain.data()));
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].isWritten && arguments[i].stored != ZERO_RT_F32)
        narrow(arguments[i], static_cast<float *>(plain[i]), args[i]);
    return {};
  }

private:
  const MixedKernel &kernel;
  std::unique_ptr<LibraryCall> inner;
};

Status MixedKernel::makeCall(std::unique_ptr<LibraryCall> &call) const {
  std::unique_ptr<LibraryCall> made;
  ZERO_RT_TRY(inner->makeCall(made));
  call = std::make_unique<Call>(*this, std::move(made));
  return {};
}

} // namespace zero::rt
