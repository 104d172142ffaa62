//===- profile_file.h - times of kernels in a report ------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_PROFILE_FILE_H
#define RUNTIME_FORMAT_PROFILE_FILE_H

#include "runtime/support/status.h"

#include <vector>

namespace zero::rt {

/// A kernel of a profile: sums over its launches in a step.
struct KernelTimes {
  double launches = 0, flops = 0, bytes = 0, seconds = 0;
};

/// Reads the kernels of the profile in a report, which `zero-run --profile --report-json=FILE` has
/// written; those that took no time are left out. Errors name the file and what was expected.
Status readKernelTimes(const std::string &path, std::vector<KernelTimes> &kernels);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_PROFILE_FILE_H
