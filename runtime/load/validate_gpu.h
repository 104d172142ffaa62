//===- validate_gpu.h - validate tables for GPUs ----------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_GPU_H
#define RUNTIME_LOAD_VALIDATE_GPU_H

#include "runtime/format/format.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// Checks that the program's target supports its kernels, that images are in the code section, and
/// that each launch of a GPU kernel has the same number of arguments.
Status validateTarget(const Executable &executable);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_GPU_H
