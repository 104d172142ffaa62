//===- eigen_convolution.h - convolutions through Eigen ---------*- C++ -*-===//
//
// A convolution of one image and one group is a product of the weights and a matrix whose columns
// are the windows of the image. Blocks of that matrix are made in the workspace.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_EIGEN_CONVOLUTION_H
#define RUNTIME_DEVICE_CPU_EIGEN_CONVOLUTION_H

#include "runtime/device/cpu/convolution_plan.h"
#include "runtime/device/cpu/library.h"

#include <array>

namespace zero::rt {

/// A convolution of f32, or one of its gradients, ready to run. Groups with few output channels are
/// not supported: the compiler generates a kernel for them. The workspace is the same on every
/// machine.
class EigenConvolution : public LibraryKernel {
public:
  static Status create(const proto::Convolution &desc, const StoredTypes &types, int threads,
                       std::unique_ptr<EigenConvolution> &convolution);

  uint64_t getWorkspace() const override;
  Status makeCall(std::unique_ptr<LibraryCall> &call) const override;

private:
  class Call;
  /// Sizes along the three spatial dimensions; those that a convolution lacks are 1.
  using Sizes = std::array<int64_t, 3>;

  EigenConvolution(const ConvolutionPlan &plan, int threads);
  uint64_t scratchBytes() const; ///< of one thread
  int64_t blocks() const { return (positions + block - 1) / block; }
  int64_t windowRows() const { return channels * taps; }

  proto::Convolution::Direction direction;
  bool bias;
  int64_t images, groups, channels, filters; ///< channels and filters: of one group
  Sizes input{1, 1, 1}, output{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
      padding{0, 0, 0};
  int64_t elements, positions, taps; ///< of an input channel, an output channel and a window
  int64_t block;                     ///< positions of a block
  int64_t rows;                      ///< channels and taps of a block
  int64_t tasks;
  int threads;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_EIGEN_CONVOLUTION_H
