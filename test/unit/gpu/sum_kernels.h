//===- sum_kernels.h - sums over ranks for the recording driver -*- C++ -*-===//

#ifndef TEST_UNIT_GPU_SUM_KERNELS_H
#define TEST_UNIT_GPU_SUM_KERNELS_H

#include "recording.h"
#include "runtime/comm/device/sum_code.h"
#include "runtime/comm/reduce.h"

/// Registers the behaviour of the kernels of sumCode() with the recording driver, for `ranks`
/// sources that are added in the order of `ranksPerNode`.
inline void addSumKernels(int ranks, int ranksPerNode = 0) {
  using namespace zero::rt;
  const DType types[] = {ZERO_RT_F32, ZERO_RT_F64, ZERO_RT_I32,
                         ZERO_RT_I64, ZERO_RT_F16, ZERO_RT_BF16};
  const cuda::SumOrder order = cuda::SumOrder::of(ranks, ranksPerNode);
  auto add = [ranks, order](Reduction how) {
    recording::addKernel(cuda::sumSymbol(how, order), ranks + 1, 2,
                         [how, ranks, order](const std::vector<void *> &pointers,
                                             const std::vector<int64_t> &scalars, uint64_t) {
                           const std::vector<const void *> sources(pointers.begin(),
                                                                   pointers.begin() + ranks);
                           sumInOrder(how, sources, pointers.back(), uint64_t(scalars[0]),
                                      int(scalars[1]), uint64_t(order.group));
                         });
  };
  for (DType dtype : types)
    add({dtype});
  for (DType dtype : {ZERO_RT_F16, ZERO_RT_BF16})
    add({dtype, false, ZERO_RT_F32});
}

#endif // TEST_UNIT_GPU_SUM_KERNELS_H
