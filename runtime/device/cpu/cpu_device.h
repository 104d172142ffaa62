//===- cpu_device.h - kernels on this machine's cores -----------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_CPU_DEVICE_H
#define RUNTIME_DEVICE_CPU_CPU_DEVICE_H

#include "runtime/device/cpu/module.h"
#include "runtime/device/device.h"

namespace zero::rt {

/// Native kernels come from `module`, matrix products from oneDNN.
std::unique_ptr<Device> makeCpuDevice(std::shared_ptr<Module> module);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_CPU_DEVICE_H
