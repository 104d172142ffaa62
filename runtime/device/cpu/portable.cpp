//===- portable.cpp - workspace that suffices on any CPU ------------------===//
//
// oneDNN selects an implementation for the CPU that it runs on, and only that says what scratch it
// needs. For other CPUs there is a bound, made of what the implementations of oneDNN 2.6 keep:
// copies of operands in blocks, sums in f32, and one set of buffers for each thread. A runtime that
// needs more refuses the executable.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/convolution_plan.h"
#include "runtime/device/cpu/library.h"
#include "runtime/device/cpu/matmul_plan.h"
#include "runtime/device/cpu/mixed.h"
#include "runtime/format/tables.h"
#include "runtime/support/checked.h"

#include <algorithm>

namespace zero::rt {

/// Blocks are multiples of so many rows and columns.
static constexpr uint64_t kBlock = 64;
/// The most that a thread buffers of a product, and what it needs for bookkeeping.
static constexpr uint64_t kMostOfThread = 8 << 20, kBookkeeping = 64 << 10;

static uint64_t bytesOfBlocks(const Matrix &matrix, size_t size) {
  const auto padded = [](int64_t extent) {
    return (std::max<uint64_t>(uint64_t(extent), 1) + kBlock - 1) / kBlock * kBlock;
  };
  return saturatingProduct<uint64_t>(
      std::array{padded(matrix.rows), padded(matrix.columns), uint64_t(size)});
}

static Status boundOf(const proto::Matmul &desc, uint64_t threads, uint64_t &bytes) {
  MatmulPlan plan;
  ZERO_RT_TRY(planMatmul(desc, plan));
  if (desc.dtype() == proto::BF16 && plan.bias && plan.swapped)
    return fail(ZERO_RT_UNSUPPORTED,
                "oneDNN has no fast product of bfloat16 with a bias along the rows of C");
  const size_t size = sizeOf(static_cast<DType>(desc.dtype()));
  const uint64_t a = bytesOfBlocks(plan.a, size), b = bytesOfBlocks(plan.b, size);
  const uint64_t c = bytesOfBlocks(plan.c, sizeof(float));
  // Operands with gaps are copied in full, as is a B that is reordered.
  uint64_t copies = (plan.a.isDense() ? 0 : a) + (plan.b.isDense() && !plan.reorderB ? 0 : b) +
                    (plan.c.isDense() ? 0 : c);
  if (auto block = blockForCaches(plan))
    copies += bytesOfBlocks({block->strides[1], block->columns, {}}, size);
  bytes = copies + threads * (std::min(a + b + c, kMostOfThread) + kBookkeeping);
  return {};
}

/// Bytes of a tensor in blocks of channels, which are the dimensions [first, first + count).
static uint64_t bytesOfBlocks(const std::vector<int64_t> &shape, size_t first, size_t count) {
  constexpr uint64_t kVector = 16;
  std::vector<uint64_t> padded(shape.begin(), shape.end());
  for (size_t i = first; i < first + count; ++i)
    padded[i] = (padded[i] + kVector - 1) / kVector * kVector;
  padded.push_back(sizeof(float));
  return saturatingProduct<uint64_t>(padded);
}

static Status boundOf(const proto::Convolution &desc, uint64_t threads, uint64_t &bytes) {
  ConvolutionPlan plan;
  ZERO_RT_TRY(planConvolution(desc, plan));
  // Weights of a depthwise convolution have blocks of groups, others of both kinds of channels.
  const bool hasGroups = desc.groups() > 1;
  const bool isDepthwise = hasGroups && desc.groups() == desc.in_channels();
  const uint64_t weights = isDepthwise ? bytesOfBlocks(plan.weights, 0, 1)
                                       : bytesOfBlocks(plan.weights, hasGroups ? 1 : 0, 2);
  const uint64_t images = bytesOfBlocks(plan.input, 1, 1) + bytesOfBlocks(plan.output, 1, 1);
  bytes = 2 * (weights + images) + threads * (2 * weights + kMostOfThread);
  return {};
}

static Status boundOf(const proto::Kernel &kernel, int threads, uint64_t &bytes);

/// The copies of arguments in 16 bits behind the workspace of a block.
static Status boundOfMixed(const proto::Kernel &kernel, int threads, uint64_t &bytes) {
  MixedPlan plan;
  ZERO_RT_TRY(planMixed(kernel, plan));
  uint64_t rest = 0;
  ZERO_RT_TRY(boundOf(plan.main.kernel, threads, bytes));
  if (plan.rest)
    ZERO_RT_TRY(boundOf(plan.rest->kernel, threads, rest));
  bytes = alignUp(std::max(bytes, rest)) + plan.main.bytes();
  return {};
}

static Status boundOf(const proto::Kernel &kernel, int threads, uint64_t &bytes) {
  if (isMixed(kernel) && !multipliesHalves(kernel))
    return boundOfMixed(kernel, threads, bytes);
  return kernel.has_matmul() ? boundOf(kernel.matmul(), uint64_t(threads), bytes)
                             : boundOf(kernel.convolution(), uint64_t(threads), bytes);
}

std::string zero_rt_portable_workspace(const proto::Kernel &kernel, uint64_t &bytes, int threads) {
  bytes = 0;
  // Attention is our own code, and the same on all CPUs.
  if (!kernel.has_matmul() && !kernel.has_convolution())
    return zero_rt_library_workspace(kernel, bytes, threads);
  // Whether oneDNN has a convolution can only be asked for this CPU.
  if (kernel.has_convolution())
    if (std::string error = zero_rt_library_workspace(kernel, bytes, threads); !error.empty())
      return error;
  if (kernel.stored_size() > 0)
    if (Status checked = checkStored(kernel); !checked.ok())
      return checked.getMessage();
  return boundOf(kernel, threads, bytes).getMessage();
}

} // namespace zero::rt
