//===- convolution_plan.h - check and plan a convolution --------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_CONVOLUTION_PLAN_H
#define RUNTIME_DEVICE_CPU_CONVOLUTION_PLAN_H

#include "runtime/format/format.h"
#include "runtime/support/status.h"

#include <vector>

namespace zero::rt {

/// A convolution in the terms of oneDNN.
struct ConvolutionPlan {
  proto::Convolution::Direction direction;
  /// Shapes of x, w (with the groups first, where there are several) and y.
  std::vector<int64_t> input, weights, output;
  std::vector<int64_t> strides, dilates, padsBegin, padsEnd; ///< dilates: elements skipped
  bool bias;

  /// Shapes of the arguments in their order, of which the last one is written.
  std::vector<std::vector<int64_t>> arguments() const;
};

/// Checks `desc`, which is untrusted, and fills `plan`: f32, 1 to 3 spatial dimensions, nothing
/// empty, and windows inside the padded input.
Status planConvolution(const proto::Convolution &desc, ConvolutionPlan &plan);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_CONVOLUTION_PLAN_H
