//===- eigen_convolution.cpp - convolutions through Eigen -----------------===//

#include "runtime/device/cpu/eigen_convolution.h"

#include "runtime/device/cpu/eigen_gemm.h"
#include "runtime/support/checked.h"

namespace zero::rt {

using Direction = proto::Convolution;

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Floats of a block of windows: they stay in the second-level cache of a small core.
static constexpr int64_t kBlockFloats = 32 << 10;
/// Positions of a block are a multiple of it.
static constexpr int64_t kBlockUnit = 16;
/// A block of windows has as many rows as a filter has weights; its bytes must not overflow.
static constexpr int64_t kMostWeights = int64_t(1) << 48;
/// Rows of weights below which a product is slower than a compiled loop.
static constexpr int64_t kLeastFilters = 4;

EigenConvolution::EigenConvolution(const ConvolutionPlan &plan, int wanted)
    : direction(plan.direction), bias(plan.bias), images(plan.input[0]) {
  const size_t dims = plan.strides.size();
  groups = plan.weights.size() > dims + 2 ? plan.weights[0] : 1;
  channels = plan.input[1] / groups;
  filters = plan.output[1] / groups;
  for (size_t i = 0; i < dims; ++i) {
    const size_t at = 3 - dims + i;
    input[at] = plan.input[2 + i];
    output[at] = plan.output[2 + i];
    kernel[at] = plan.weights[plan.weights.size() - dims + i];
    stride[at] = plan.strides[i];
    dilation[at] = plan.dilates[i] + 1;
    padding[at] = plan.padsBegin[i];
  }
  elements = saturatingProduct<int64_t>(input);
  positions = saturatingProduct<int64_t>(output);
  taps = saturatingProduct<int64_t>(kernel);
  const int64_t most = kBlockFloats / windowRows() / kBlockUnit * kBlockUnit;
  block = std::min(positions, std::max(most, kBlockUnit));
  rows = windowRows();
  tasks = images * groups;
  if (direction == Direction::FORWARD)
    tasks *= blocks();
  if (direction == Direction::BACKWARD_WEIGHTS) {
    // All images add to the same gradient, of which threads share out the columns.
    const int64_t parts = std::clamp<int64_t>((rows + kGemmUnit - 1) / kGemmUnit, 1, wanted);
    tasks = groups * parts;
    rows = 0;
    for (int64_t part = 0; part < parts; ++part)
      rows = std::max(rows, partOf(windowRows(), part, parts, kGemmUnit).size());
  }
  threads = int(std::clamp<int64_t>(tasks, 1, wanted));
}

uint64_t EigenConvolution::scratchBytes() const {
  const uint64_t scratch = direction == Direction::FORWARD ? gemmScratch(filters, block, rows)
                           : direction == Direction::BACKWARD_DATA
                               ? gemmScratch(rows, block, filters)
                               : gemmScratch(filters, rows, block);
  return alignUp(uint64_t(rows * block) * sizeof(float)) + scratch;
}

uint64_t EigenConvolution::getWorkspace() const { return uint64_t(threads) * scratchBytes(); }

Status EigenConvolution::create(const proto::Convolution &desc, const StoredTypes &types,
                                int threads, std::unique_ptr<EigenConvolution> &convolution) {
  ConvolutionPlan plan;
  ZERO_RT_TRY(planConvolution(desc, plan));
  if (types.operands != ZERO_RT_F32 || types.bias != ZERO_RT_F32 || types.result != ZERO_RT_F32)
    return fail(ZERO_RT_UNSUPPORTED, "Eigen has no fast convolution of bfloat16");
  if (saturatingProduct<int64_t>(plan.weights) > kMostWeights)
    return fail(ZERO_RT_UNSUPPORTED, "a convolution: expected at most %lld weights",
                static_cast<long long>(kMostWeights));
  std::unique_ptr<EigenConvolution> made(new EigenConvolution(plan, threads));
  if (made->groups > 1 && made->filters < kLeastFilters)
    return fail(ZERO_RT_UNSUPPORTED,
                "a convolution: expected groups of at least %lld output channels, got %lld",
                static_cast<long long>(kLeastFilters), static_cast<long long>(made->filters));
  convolution = std::move(made);
  return {};
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

class EigenConvolution::Call : public LibraryCall {
public:
  explicit Call(const EigenConvolution &convolution) : my(convolution) {}
  Status run(void *const *args) override;

private:
  template <typename Body>
  void forEachRun(int64_t tap, TaskPart positions, Body body) const;
  void gather(const float *image, TaskPart rows, TaskPart positions, float *windows) const;
  void scatter(const float *windows, TaskPart positions, float *image) const;
  void forward(int64_t task, char *scratch) const;
  void backwardData(int64_t task, char *scratch) const;
  void backwardWeights(int64_t task, char *scratch) const;

  TaskPart blockOf(int64_t index) const {
    return {index * my.block, std::min((index + 1) * my.block, my.positions)};
  }
  int64_t weightsOfGroup() const { return my.filters * my.windowRows(); }
  char *behindWindows(char *scratch) const {
    return scratch + alignUp(uint64_t(my.rows * my.block) * sizeof(float));
  }

  const EigenConvolution &my;
  const float *first = nullptr, *second = nullptr, *bias = nullptr;
  float *result = nullptr;
};

Status EigenConvolution::makeCall(std::unique_ptr<LibraryCall> &call) const {
  call = std::make_unique<Call>(*this);
  return {};
}

/// Calls body(column, count, from, to, element) for runs of output positions along the last
/// dimension: `column` is the first one in the block. Those in [from, to) of the `count` positions
/// read elements of the image, from `element` of position 0 on at a distance of the stride; the
/// others read padding.
template <typename Body>
void EigenConvolution::Call::forEachRun(int64_t tap, TaskPart positions, Body body) const {
  const auto &[depth, height, width] = my.output;
  const Sizes taps{tap / (my.kernel[1] * my.kernel[2]), tap / my.kernel[2] % my.kernel[1],
                   tap % my.kernel[2]};
  for (int64_t at = positions.begin, next; at < positions.end; at = next) {
    const Sizes where{at / (height * width), at / width % height, at % width};
    next = std::min(at + width - where[2], positions.end);
    Sizes element;
    for (size_t dim = 0; dim < 3; ++dim)
      element[dim] = where[dim] * my.stride[dim] + taps[dim] * my.dilation[dim] - my.padding[dim];
    const int64_t count = next - at, step = my.stride[2];
    const bool isInside =
        element[0] >= 0 && element[0] < my.input[0] && element[1] >= 0 && element[1] < my.input[1];
    // The first positions whose elements are not before the line, and behind it.
    const auto reach = [&](int64_t distance) {
      return distance <= 0 ? 0 : std::min(count, (distance + step - 1) / step);
    };
    const int64_t from = isInside ? reach(-element[2]) : 0;
    const int64_t to = isInside ? std::max(from, reach(my.input[2] - element[2])) : 0;
    body(at - positions.begin, count, from, to,
         (element[0] * my.input[1] + element[1]) * my.input[2] + element[2]);
  }
}

/// Writes the elements that the windows at `positions` have of `rows`, one row for each channel and
/// tap.
void EigenConvolution::Call::gather(const float *image, TaskPart rows, TaskPart positions,
                                    float *windows) const {
  const int64_t step = my.stride[2];
  for (int64_t row = rows.begin; row < rows.end; ++row, windows += positions.size()) {
    const float *channel = image + row / my.taps * my.elements;
    forEachRun(row % my.taps, positions,
               [&](int64_t column, int64_t count, int64_t from, int64_t to, int64_t element) {
                 float *line = windows + column;
                 std::fill(line, line + from, 0.0f);
                 std::fill(line + to, line + count, 0.0f);
                 if (step == 1)
                   std::copy_n(channel + element + from, to - from, line + from);
                 else
                   for (int64_t i = from; i < to; ++i)
                     line[i] = channel[element + i * step];
               });
  }
}

/// Adds the gradients of windows to those of their elements.
void EigenConvolution::Call::scatter(const float *windows, TaskPart positions, float *image) const {
  const int64_t step = my.stride[2];
  for (int64_t row = 0; row < my.windowRows(); ++row, windows += positions.size()) {
    float *channel = image + row / my.taps * my.elements;
    forEachRun(row % my.taps, positions,
               [&](int64_t column, int64_t, int64_t from, int64_t to, int64_t element) {
                 for (int64_t i = from; i < to; ++i)
                   channel[element + i * step] += windows[column + i];
               });
  }
}

void EigenConvolution::Call::forward(int64_t task, char *scratch) const {
  const TaskPart where = blockOf(task % my.blocks());
  const int64_t image = task / my.blocks(), group = image % my.groups;
  auto *windows = reinterpret_cast<float *>(scratch);
  gather(first + image * my.channels * my.elements, {0, my.rows}, where, windows);
  float *y = result + image * my.filters * my.positions + where.begin;
  for (int64_t filter = 0; filter < my.filters; ++filter)
    std::fill_n(y + filter * my.positions, where.size(),
                bias ? bias[group * my.filters + filter] : 0.0f);
  gemm(my.filters, where.size(), my.rows, 1.0f,
       {second + group * weightsOfGroup(), my.rows, /*byColumns=*/false},
       {windows, where.size(), /*byColumns=*/false}, y, my.positions, behindWindows(scratch));
}

void EigenConvolution::Call::backwardData(int64_t image, char *scratch) const {
  auto *windows = reinterpret_cast<float *>(scratch);
  const float *dy = first + image * my.filters * my.positions;
  const float *weights = second + image % my.groups * weightsOfGroup();
  float *dx = result + image * my.channels * my.elements;
  std::fill_n(dx, my.channels * my.elements, 0.0f);
  for (int64_t index = 0; index < my.blocks(); ++index) {
    const TaskPart where = blockOf(index);
    std::fill_n(windows, my.rows * where.size(), 0.0f);
    gemm(my.rows, where.size(), my.filters, 1.0f, {weights, my.rows, /*byColumns=*/true},
         {dy + where.begin, my.positions, /*byColumns=*/false}, windows, where.size(),
         behindWindows(scratch));
    scatter(windows, where, dx);
  }
}

void EigenConvolution::Call::backwardWeights(int64_t task, char *scratch) const {
  const int64_t parts = my.tasks / my.groups, group = task / parts;
  const TaskPart rows = partOf(my.windowRows(), task % parts, parts, kGemmUnit);
  auto *windows = reinterpret_cast<float *>(scratch);
  float *dw = result + group * weightsOfGroup() + rows.begin;
  for (int64_t filter = 0; filter < my.filters; ++filter)
    std::fill_n(dw + filter * my.windowRows(), rows.size(), 0.0f);
  for (int64_t image = group; image < my.images * my.groups; image += my.groups)
    for (int64_t index = 0; index < my.blocks(); ++index) {
      const TaskPart where = blockOf(index);
      gather(second + image * my.channels * my.elements, rows, where, windows);
      gemm(my.filters, rows.size(), where.size(), 1.0f,
           {first + image * my.filters * my.positions + where.begin, my.positions,
            /*byColumns=*/false},
           {windows, where.size(), /*byColumns=*/true}, dw, my.windowRows(),
           behindWindows(scratch));
    }
}

Status EigenConvolution::Call::run(void *const *args) {
  first = static_cast<const float *>(args[0]);
  second = static_cast<const float *>(args[1]);
  bias = my.bias ? static_cast<const float *>(args[2]) : nullptr;
  result = static_cast<float *>(args[my.bias ? 3 : 2]);
  auto *workspace = static_cast<char *>(args[my.bias ? 4 : 3]);
  const auto body = my.direction == Direction::FORWARD         ? &Call::forward
                    : my.direction == Direction::BACKWARD_DATA ? &Call::backwardData
                                                               : &Call::backwardWeights;
  runTasks(my.tasks, my.threads, workspace, my.scratchBytes(),
           [&](int64_t task, char *scratch) { (this->*body)(task, scratch); });
  return {};
}

} // namespace zero::rt
