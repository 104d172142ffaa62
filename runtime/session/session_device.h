//===- session_device.h - devices of a session's ranks ----------*- C++ -*-===//

#ifndef RUNTIME_SESSION_SESSION_DEVICE_H
#define RUNTIME_SESSION_SESSION_DEVICE_H

#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"
#include "runtime/load/program.h"
#include "runtime/processes/world.h"

namespace zero::rt {

/// Whether the algorithms of products on GPUs are chosen without a word of the user: those of a
/// checkpoint that is loaded, else of the folder of caches.
bool choosesAlgorithms(const zero_rt_session_options &options);

/// Makes the device that `program` is compiled for, and the ends of a group on it of the
/// ranks that this process has; `world`: null if it has all.
/// `program` must outlive both. Refused: another device than the options ask for, GPUs for
/// a program that has none, a list of GPUs that cannot be read.
Status openDevice(const LoadedProgram &program, const zero_rt_session_options &options,
                  World *world, std::unique_ptr<Device> &device,
                  std::vector<std::unique_ptr<Communicator>> &ends);

} // namespace zero::rt

#endif // RUNTIME_SESSION_SESSION_DEVICE_H
