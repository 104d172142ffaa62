//===- sum_code.h - sums over ranks on a GPU --------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_DEVICE_SUM_CODE_H
#define RUNTIME_COMM_DEVICE_SUM_CODE_H

#include "runtime/comm/communicator.h"
#include "runtime/device/cuda/code.h"
#include "runtime/device/cuda/lanes.h"

namespace zero::rt::cuda {

/// The order of a sum: each `group` consecutive sources first, then these sums.
struct SumOrder {
  int sources, group;
  /// `first`: as many are added first, as Members::sumsOf.
  static SumOrder of(int members, int first) {
    return {members, first > 0 && first < members ? first : members};
  }
};

/// PTX of kernels that add the sources of all ranks, for all types that canSum() supports:
/// destination[i] = (source 0[i] + source 1[i] + ...) / divisor in that order, one element per
/// thread, with the roundings of sumInOrder(). Parameters, all of 64 bits: the sources,
/// the destination, which may be one of them, the number of elements, the divisor.
std::string sumCode(SumOrder order);

/// The name of the kernel for `how`.
std::string sumSymbol(const Reduction &how, SumOrder order);

/// These kernels on one GPU.
class SumKernels {
public:
  static Status load(std::shared_ptr<const Gpu> gpu, SumOrder order,
                     std::shared_ptr<const SumKernels> &kernels);

  /// `addresses`: of the sources, then of the destination.
  Status run(const Reduction &how, std::span<const Address> addresses, uint64_t elements,
             int divisor, const Lanes &lanes) const;

private:
  std::unique_ptr<GpuModule> module;
  std::vector<std::pair<Reduction, Function>> functions;
};

} // namespace zero::rt::cuda

#endif // RUNTIME_COMM_DEVICE_SUM_CODE_H
