//===- KernelProfile.h - measured times of kernels --------------*- C++ -*-===//

#ifndef ZERO_MACHINE_KERNELPROFILE_H
#define ZERO_MACHINE_KERNELPROFILE_H

#include "zero/Planning/Machine.h"

namespace zero {

/// Adds the seconds of the kernels in a report of `zero-run --profile --report-json=FILE` to
/// `machine`, which then takes them instead of its model for launches with the same operations and
/// bytes, in any program. Returns an error message, empty on success.
std::string readKernelProfile(const std::string &path, planning::Machine &machine);

} // namespace zero

#endif // ZERO_MACHINE_KERNELPROFILE_H
