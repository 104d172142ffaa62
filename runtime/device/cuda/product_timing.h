//===- product_timing.h - time the algorithms of a product ------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_PRODUCT_TIMING_H
#define RUNTIME_DEVICE_CUDA_PRODUCT_TIMING_H

#include "runtime/device/cuda/algorithm_table.h"
#include "runtime/device/cuda/lanes.h"
#include "runtime/device/cuda/product.h"
#include "runtime/device/device.h"
#include "runtime/support/mesh.h"

namespace zero::rt::cuda {

/// Where products are timed: in `arena`, which is overwritten, with its operands where launches of
/// `rank` have them, on the current lane of `lanes`.
struct TimingPlace {
  const BlasContext &context;
  Lanes &lanes;
  Arena &arena;
  Mesh mesh;
  int rank;
};

/// Runs `product`, of `launch`, with each of the algorithms that the library expects to be the
/// fastest, and lets it run the fastest from now on. `hasWorkspace`: the last argument of `launch`
/// is the workspace. Waits until all is done, after an error, too.
Status chooseFastest(const TimingPlace &place, const proto::Launch &launch, bool hasWorkspace,
                     Product &product, ChosenAlgorithm &chosen);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_PRODUCT_TIMING_H
