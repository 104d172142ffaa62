//===- validate_gpu.h - are the tables for GPUs consistent? -----*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_GPU_H
#define RUNTIME_LOAD_VALIDATE_GPU_H

#include "runtime/format/format.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// Checks that kernels are of the program's target, that images lie in the code section, and
/// that each launch of a GPU kernel has as many arguments as the others.
Status validateTarget(const Executable &executable);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_GPU_H
