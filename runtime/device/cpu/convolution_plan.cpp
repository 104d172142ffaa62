//===- convolution_plan.cpp - check and plan a convolution ----------------===//

#include "runtime/device/cpu/convolution_plan.h"

#include "runtime/support/checked.h"
#include "runtime/support/dtype.h"

namespace zero::rt {

// Far beyond any tensor, and sums of a few products of it cannot overflow.
static constexpr uint64_t kLargest = uint64_t(1) << 30;

static Status checkSize(const char *what, uint64_t size, uint64_t least) {
  if (size >= least && size <= kLargest)
    return {};
  return fail(ZERO_RT_UNSUPPORTED, "a convolution: expected %llu to %llu as %s, got %llu",
              static_cast<unsigned long long>(least), static_cast<unsigned long long>(kLargest),
              what, static_cast<unsigned long long>(size));
}

static Status checkChannels(const proto::Convolution &desc) {
  ZERO_RT_TRY(checkSize("batch", desc.batch(), 1));
  ZERO_RT_TRY(checkSize("groups", desc.groups(), 1));
  ZERO_RT_TRY(checkSize("input channels", desc.in_channels(), 1));
  ZERO_RT_TRY(checkSize("output channels", desc.out_channels(), 1));
  if (desc.in_channels() % desc.groups() || desc.out_channels() % desc.groups())
    return fail(ZERO_RT_BAD_FILE, "a convolution: its groups do not divide its channels");
  return {};
}

static Status checkLists(const proto::Convolution &desc) {
  int dims = desc.input_size();
  if (dims < 1 || dims > 3)
    return fail(ZERO_RT_UNSUPPORTED, "a convolution over %d dimensions: expected 1 to 3", dims);
  for (int size : {desc.output_size(), desc.kernel_size(), desc.strides_size(),
                   desc.dilations_size(), desc.pads_begin_size(), desc.pads_end_size()})
    if (size != dims)
      return fail(ZERO_RT_BAD_FILE, "a convolution: expected lists of %d, got %d", dims, size);
  return {};
}

static Status checkWindows(const proto::Convolution &desc, int dim) {
  ZERO_RT_TRY(checkSize("input size", desc.input(dim), 1));
  ZERO_RT_TRY(checkSize("output size", desc.output(dim), 1));
  ZERO_RT_TRY(checkSize("kernel size", desc.kernel(dim), 1));
  ZERO_RT_TRY(checkSize("stride", desc.strides(dim), 1));
  ZERO_RT_TRY(checkSize("dilation", desc.dilations(dim), 1));
  ZERO_RT_TRY(checkSize("padding", desc.pads_begin(dim), 0));
  ZERO_RT_TRY(checkSize("padding", desc.pads_end(dim), 0));
  uint64_t span =
      (desc.output(dim) - 1) * desc.strides(dim) + (desc.kernel(dim) - 1) * desc.dilations(dim) + 1;
  if (span > desc.input(dim) + desc.pads_begin(dim) + desc.pads_end(dim))
    return fail(ZERO_RT_BAD_FILE, "a convolution: its windows reach beyond the padded input");
  return {};
}

/// Bytes of `shape` stay below half of the address space.
static Status checkElements(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  return checkedProduct(shape, (int64_t(1) << 60) - 1, elements)
             ? Status()
             : fail(ZERO_RT_BAD_FILE, "a convolution: its size overflows");
}

std::vector<std::vector<int64_t>> ConvolutionPlan::arguments() const {
  if (direction == proto::Convolution::BACKWARD_DATA)
    return {output, weights, input};
  if (direction == proto::Convolution::BACKWARD_WEIGHTS)
    return {output, input, weights};
  return bias ? std::vector{input, weights, {output[1]}, output}
              : std::vector{input, weights, output};
}

Status planConvolution(const proto::Convolution &desc, ConvolutionPlan &plan) {
  if (desc.dtype() != proto::F32 && desc.dtype() != proto::BF16)
    return fail(ZERO_RT_UNSUPPORTED, "a convolution of %s: expected float32 or bfloat16",
                nameOf(static_cast<DType>(desc.dtype())));
  if (!proto::Convolution::Direction_IsValid(desc.direction()))
    return fail(ZERO_RT_BAD_FILE, "a convolution of a kind that this runtime does not know");
  ZERO_RT_TRY(checkChannels(desc));
  if (desc.bias() && desc.direction() != proto::Convolution::FORWARD)
    return fail(ZERO_RT_BAD_FILE, "a convolution: a bias in its gradient");
  ZERO_RT_TRY(checkLists(desc));
  for (int dim = 0; dim < desc.input_size(); ++dim)
    ZERO_RT_TRY(checkWindows(desc, dim));
  auto append = [](std::vector<int64_t> shape, const auto &spatial) {
    shape.insert(shape.end(), spatial.begin(), spatial.end());
    return shape;
  };
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  int64_t groups = number(desc.groups());
  std::vector<int64_t> leading{number(desc.out_channels()) / groups,
                               number(desc.in_channels()) / groups};
  if (groups > 1)
    leading.insert(leading.begin(), groups);
  plan.direction = desc.direction();
  plan.input = append({number(desc.batch()), number(desc.in_channels())}, desc.input());
  plan.weights = append(leading, desc.kernel());
  plan.output = append({number(desc.batch()), number(desc.out_channels())}, desc.output());
  plan.strides = append({}, desc.strides());
  for (uint64_t dilation : desc.dilations())
    plan.dilates.push_back(number(dilation) - 1);
  plan.padsBegin = append({}, desc.pads_begin());
  plan.padsEnd = append({}, desc.pads_end());
  plan.bias = desc.bias();
  for (const auto *shape : {&plan.input, &plan.weights, &plan.output})
    ZERO_RT_TRY(checkElements(*shape));
  return {};
}

} // namespace zero::rt
