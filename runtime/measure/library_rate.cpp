//===- library_rate.cpp - measure library kernels -------------------------===//

#include "runtime/measure/library_rate.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace zero::rt {

static constexpr size_t kLaunches = 2; ///< at least

static void setStrides(google::protobuf::RepeatedField<int64_t> &strides,
                       std::initializer_list<uint64_t> values) {
  strides.Add(values.begin(), values.end());
}

TimedKernel timedProduct(uint64_t m, uint64_t n, uint64_t k, bool transposedA, bool transposedB) {
  TimedKernel timed;
  proto::Matmul &matmul = *timed.kernel.mutable_matmul();
  matmul.set_dtype(proto::F32);
  matmul.set_m(m);
  matmul.set_n(n);
  matmul.set_k(k);
  matmul.set_alpha(1);
  const uint64_t one = 1;
  setStrides(*matmul.mutable_a_strides(), {transposedA ? one : k, transposedA ? m : one});
  setStrides(*matmul.mutable_b_strides(), {transposedB ? one : n, transposedB ? k : one});
  setStrides(*matmul.mutable_c_strides(), {n, one});
  timed.arguments = {4 * m * k, 4 * k * n, 4 * m * n};
  timed.flops = 2.0 * double(m) * double(n) * double(k);
  return timed;
}

TimedKernel timedAttention(uint64_t rows, bool backward) {
  constexpr uint64_t kHeads = 8, kWidth = 64;
  const uint64_t batch = std::max<uint64_t>(1024 / rows, 1);
  TimedKernel timed;
  proto::Attention &attention = *timed.kernel.mutable_attention();
  attention.set_dtype(proto::F32);
  attention.set_direction(backward ? proto::Attention::BACKWARD : proto::Attention::FORWARD);
  attention.set_batch(batch);
  attention.set_heads(kHeads);
  attention.set_groups(kHeads);
  attention.set_queries(rows);
  attention.set_keys(rows);
  attention.set_width(kWidth);
  attention.set_value_width(kWidth);
  attention.set_packed(true);
  for (auto *strides : {attention.mutable_q_strides(), attention.mutable_k_strides(),
                        attention.mutable_v_strides()}) {
    setStrides(*strides, {rows * 3 * kHeads * kWidth, kWidth, 3 * kHeads * kWidth});
    attention.add_offsets(uint64_t(attention.offsets_size()) * kHeads * kWidth);
  }
  setStrides(*attention.mutable_o_strides(), {rows * kHeads * kWidth, kWidth, kHeads * kWidth});
  attention.set_scale(0.125f);
  attention.set_causal(true);
  attention.set_fill(-std::numeric_limits<float>::infinity());
  const uint64_t lse = 4 * batch * kHeads * rows, matrix = lse * kWidth;
  if (backward)
    timed.arguments = {matrix, 3 * matrix, matrix, lse, 3 * matrix};
  else
    timed.arguments = {3 * matrix, matrix, lse};
  const double products = backward ? 5 : 2; // of a query with a key it sees, or the like
  timed.flops =
      2 * products * double(batch) * kHeads * kWidth * double(rows) * double(rows + 1) / 2;
  return timed;
}

TimedKernel timedConvolution() {
  constexpr uint64_t kImages = 8, kChannels = 64, kSide = 32, kWindow = 3;
  TimedKernel timed;
  proto::Convolution &convolution = *timed.kernel.mutable_convolution();
  convolution.set_dtype(proto::F32);
  convolution.set_batch(kImages);
  convolution.set_groups(1);
  convolution.set_in_channels(kChannels);
  convolution.set_out_channels(kChannels);
  for (int dimension = 0; dimension < 2; ++dimension) {
    convolution.add_input(kSide);
    convolution.add_output(kSide);
    convolution.add_kernel(kWindow);
    convolution.add_strides(1);
    convolution.add_dilations(1);
    convolution.add_pads_begin(1);
    convolution.add_pads_end(1);
  }
  const uint64_t image = 4 * kImages * kChannels * kSide * kSide;
  timed.arguments = {image, 4 * kChannels * kChannels * kWindow * kWindow, image};
  timed.flops = 2.0 * kImages * kChannels * kChannels * kSide * kSide * kWindow * kWindow;
  return timed;
}

namespace {
/// Returns memory, cyclically from the beginning.
class Ring {
public:
  explicit Ring(const Arena &memory) : memory(memory) {}
  void *take(uint64_t bytes) {
    if (next + bytes > memory.bytes())
      next = 0;
    return memory.base() + std::exchange(next, next + alignUp(bytes));
  }

private:
  const Arena &memory;
  uint64_t next = 0;
};
} // namespace

Status timeKernel(const TimedKernel &timed, int threads, const Arena &memory, double seconds,
                  double &median) {
  using Clock = std::chrono::steady_clock;
  auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  std::unique_ptr<LibraryKernel> kernel;
  std::unique_ptr<LibraryCall> call;
  ZERO_RT_TRY(makeLibraryKernel(timed.kernel, threads, kernel));
  ZERO_RT_TRY(kernel->makeCall(call));
  std::vector<uint64_t> sizes = timed.arguments;
  sizes.push_back(kernel->getWorkspace());
  uint64_t bytes = 0;
  for (uint64_t size : sizes)
    bytes += alignUp(size);
  if (bytes > memory.bytes())
    return fail(ZERO_RT_INTERNAL, "a kernel needs %llu bytes to be measured",
                static_cast<unsigned long long>(bytes));
  Ring ring(memory);
  std::vector<void *> args(sizes.size());
  std::vector<double> launches;
  const auto start = Clock::now();
  while (launches.size() < kLaunches || since(start) < seconds) {
    std::transform(sizes.begin(), sizes.end(), args.begin(),
                   [&](uint64_t size) { return ring.take(size); });
    const auto begin = Clock::now();
    ZERO_RT_TRY(call->run(args.data()));
    launches.push_back(since(begin));
  }
  const auto middle = launches.begin() + std::ptrdiff_t(launches.size() / 2);
  std::nth_element(launches.begin(), middle, launches.end());
  median = *middle;
  return {};
}

} // namespace zero::rt
