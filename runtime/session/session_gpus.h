//===- session_gpus.h - GPUs of a session's ranks ---------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_SESSION_GPUS_H
#define RUNTIME_SESSION_SESSION_GPUS_H

#include "runtime/comm/host/host_group.h"
#include "runtime/device/device.h"
#include "runtime/load/program.h"
#include "runtime/processes/world.h"

namespace zero::rt {

/// openDevice() for a program that is compiled for GPUs. Refused in a runtime without them.
Status openGpus(const LoadedProgram &program, const zero_rt_session_options &options, World *world,
                const GroupOptions &group, std::unique_ptr<Device> &device,
                std::vector<std::unique_ptr<Communicator>> &ends);

} // namespace zero::rt

#endif // RUNTIME_SESSION_SESSION_GPUS_H
