//===- device_group.h - ranks that share a GPU ------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_DEVICE_DEVICE_GROUP_H
#define RUNTIME_COMM_DEVICE_DEVICE_GROUP_H

#include "runtime/comm/threads/threads.h"
#include "runtime/device/cuda/lanes.h"

namespace zero::rt::cuda {

/// The ends of a new group, by rank: threads of this process whose memory lies on one GPU.
/// They read each other's memory there and add in rank order, with the bits of the CPU's
/// communicator but for denormals. A collective is given to the current stream of the
/// rank's lanes and is over when that is: threads meet, streams wait for each other by
/// events. A thread that does not come is named when the time is up; nothing on the GPU
/// waits for what it was not given.
Status makeDeviceGroup(const ThreadGroupOptions &options,
                       const std::vector<std::shared_ptr<Lanes>> &lanes,
                       std::vector<std::unique_ptr<Communicator>> &ends);

} // namespace zero::rt::cuda

#endif // RUNTIME_COMM_DEVICE_DEVICE_GROUP_H
