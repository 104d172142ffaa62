//===- KernelProfile.cpp - measured times of kernels ----------------------===//

#include "zero/Machine/KernelProfile.h"

#include "runtime/format/profile_file.h"

namespace zero {

std::string readKernelProfile(const std::string &path, planning::Machine &machine) {
  std::vector<rt::KernelTimes> kernels;
  if (rt::Status status = rt::readKernelTimes(path, kernels); !status.ok())
    return status.getMessage();
  // Seconds of kernels with the same work are their mean.
  std::map<planning::KernelWork, rt::KernelTimes> sums;
  for (const rt::KernelTimes &kernel : kernels) {
    rt::KernelTimes &sum =
        sums[planning::kernelWork(kernel.flops / kernel.launches, kernel.bytes / kernel.launches)];
    sum.launches += kernel.launches;
    sum.seconds += kernel.seconds;
  }
  for (const auto &[work, sum] : sums)
    machine.measured[work] = sum.seconds / sum.launches;
  return "";
}

} // namespace zero
