//===- cpu_device.h - kernels on this machine's cores -----------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_CPU_DEVICE_H
#define RUNTIME_DEVICE_CPU_CPU_DEVICE_H

#include "runtime/device/cpu/module.h"
#include "runtime/device/device.h"

namespace zero::rt {

/// Native kernels come from `module`, matrix products from oneDNN.
std::unique_ptr<Device> makeCpuDevice(std::shared_ptr<Module> module);

/// Makes the calling thread a rank's, with `threads` library threads. Denormals slow
/// softmax-heavy code two to three times: all of them flush results and inputs.
void prepareTeam(int threads);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_CPU_DEVICE_H
