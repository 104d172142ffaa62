//===- reach.h - bytes that a kernel accesses -------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_REACH_H
#define RUNTIME_DEVICE_CPU_REACH_H

#include "runtime/format/format.h"
#include "runtime/support/status.h"

#include <vector>

namespace zero::rt {

/// The bytes from each argument of a library kernel, except the workspace, to the end of the last
/// element that it accesses there. Nothing is known about native code, so the list is empty for it.
/// Fails with an error that names the reason if sizes and strides of `kernel` are invalid.
/// `onGpu`: what is computed there.
Status planReach(const proto::Kernel &kernel, std::vector<uint64_t> &bytes, bool onGpu = false);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_REACH_H
