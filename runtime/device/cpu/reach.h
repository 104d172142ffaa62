//===- reach.h - bytes that a kernel accesses -------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_REACH_H
#define RUNTIME_DEVICE_CPU_REACH_H

#include "runtime/format/format.h"
#include "runtime/support/status.h"

#include <vector>

namespace zero::rt {

/// Bytes from each argument of a library's kernel, but for the workspace, to behind the
/// last one that it touches there. Of native code nothing is known: no argument. Fails,
/// naming what is wrong, when sizes and strides of `kernel` do not make sense.
Status planReach(const proto::Kernel &kernel, std::vector<uint64_t> &bytes);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_REACH_H
