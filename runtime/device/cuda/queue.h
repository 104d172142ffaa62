//===- queue.h - commands of one rank on a GPU ------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_QUEUE_H
#define RUNTIME_DEVICE_CUDA_QUEUE_H

#include "runtime/device/cuda/attention.h"
#include "runtime/device/cuda/code.h"
#include "runtime/device/cuda/lanes.h"
#include "runtime/device/cuda/product.h"

namespace zero::rt::cuda {

/// A kernel of the program on one GPU.
struct GpuKernel {
  std::string name;
  // One of these, or a native one with launches:
  std::shared_ptr<const Product> product;
  std::unique_ptr<GpuAttention> attention;
  std::vector<GpuLaunch> launches;
  uint32_t arguments = 0; ///< the same, but for the length
};

/// The kernels of a program on one GPU, shared by the ranks there.
struct GpuKernels {
  std::unique_ptr<GpuModule> module;
  std::shared_ptr<const BlasContext> blas; ///< nullptr: no products
  std::optional<GpuAttentionCode> attention;
  std::vector<GpuKernel> kernels;
};

/// Commands go to the current lane of `lanes`, which communicators of the rank share. Windows are
/// in one piece of pinned memory. `kernels` must outlive the queue.
Status makeGpuQueue(const GpuKernels &kernels, std::shared_ptr<Lanes> lanes,
                    std::unique_ptr<Queue> &queue);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_QUEUE_H
