//===- attention.h - attention on a GPU -------------------------*- C++ -*-===//
//
// Launches the kernels of kernels/attention.cpp, which the driver assembles when a program with
// attention is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_ATTENTION_H
#define RUNTIME_DEVICE_CUDA_ATTENTION_H

#include "runtime/device/cuda/code.h"
#include "runtime/device/cuda/kernels/attention_limits.h"
#include "runtime/device/cuda/kernels/attention_parameters.h"
#include "runtime/device/cuda/lanes.h"
#include "runtime/support/dtype.h"

#include <map>

namespace zero::rt::cuda {

/// The kernels of attention on one GPU, loaded when they are first needed.
class GpuAttentionCode {
public:
  explicit GpuAttentionCode(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  /// Finds the module for factors of this type; `width`: one of kAttentionWidths.
  Status find(DType factors, int width, const GpuModule *&module);

private:
  std::shared_ptr<const Gpu> gpu;
  std::map<std::pair<DType, int>, std::unique_ptr<GpuModule>> modules;
};

/// An attention, or its gradient.
class GpuAttention {
public:
  /// Fails if `kernel` does not describe one that is possible here, or has too little workspace.
  static Status create(GpuAttentionCode &code, const proto::Kernel &kernel,
                       std::unique_ptr<GpuAttention> &attention);
  /// `args`: device addresses, as in executable.proto.
  Status run(void *const *args, const Lanes &lanes) const;

private:
  struct Launch {
    Function function = nullptr;
    unsigned blocks = 0, threads = 0, sharedBytes = 0;
  };
  bool skips(bool hasSameSegments) const;
  void takeShape();
  template <bool IsFloat>
  void takeTiles(int width);
  Status addLaunch(const GpuModule &module, const char *entry, uint64_t blocks);
  GpuRows rowsOf(const HeadsPlan &heads) const;
  GpuMask maskOf(const std::optional<MaskPlan> &mask) const;
  bool areVectors(void *const *args, std::initializer_list<const HeadsPlan *> tensors) const;

  AttentionPlan plan;
  AttentionParameters shape{}; ///< without addresses
  unsigned threads = 0, own = 0, sharedBytes = 0;
  std::vector<Launch> launches;
};

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_ATTENTION_H
