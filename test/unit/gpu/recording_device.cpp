//===- recording_device.cpp - what libcuda says about devices -------------===//

#include "calls.h"

#include <cstring>

using namespace recording;

/// CU_DEVICE_ATTRIBUTE_: those that the runtime does not ask for.
enum : int { kMaxThreads = 1, kSharedBytes = 8, kWarpSize = 10, kMultiprocessors = 16 };

/// The shared memory that a block may have if its function asks for it, static and dynamic:
/// "Maximum amount of shared memory per thread block" of the CUDA C++ Programming Guide, from 8.0
/// on.
uint64_t recording::mostSharedBytesOf(int capability) {
  if (capability == 80 || capability == 87)
    return 163 << 10;
  return (capability >= 90 && capability < 120 ? 227 : 99) << 10;
}

EXPORT cuDeviceGetCount(int *count) {
  LOCKED;
  *count = engine.settings.devices;
  return kSuccess;
}
EXPORT cuDeviceGet(DeviceNumber *device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}
EXPORT cuDeviceGetName(char *name, int bytes, DeviceNumber) {
  std::strncpy(name, "recording", size_t(bytes));
  return kSuccess;
}
/// An attribute that no GPU has is an error. One that is missing here is a problem, too.
EXPORT cuDeviceGetAttribute(int *value, int attribute, DeviceNumber) {
  LOCKED;
  const int capability = engine.settings.capability;
  const std::map<int, int> values = {
      {kMaxThreads, 1024},
      {kSharedBytes, 48 << 10},
      {kWarpSize, 32},
      {kMultiprocessors, capability == 80 ? 108 : 132},
      {kComputeCapabilityMajor, capability / 10},
      {kComputeCapabilityMinor, capability % 10},
      {kMostSharedBytes, int(mostSharedBytesOf(capability))},
  };
  auto found = values.find(attribute);
  if (found == values.end()) {
    engine.problem("cuDeviceGetAttribute: attribute " + std::to_string(attribute) +
                   " is not implemented");
    return kInvalidValue;
  }
  *value = found->second;
  return kSuccess;
}
