//===- device_group.h - ranks that share a GPU ------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_DEVICE_DEVICE_GROUP_H
#define RUNTIME_COMM_DEVICE_DEVICE_GROUP_H

#include "runtime/comm/host/host_group.h"
#include "runtime/device/cuda/lanes.h"

namespace zero::rt::cuda {

/// The communicators of a new group, by rank: threads of this process whose memory is on one GPU.
/// They read each other's memory there and sum in rank order. The results are bitwise identical to
/// those of the CPU communicator except for denormals. A collective is enqueued on the current
/// stream of the rank's lanes and is complete when that stream reaches it. Threads synchronize, and
/// streams wait for each other by events. After the timeout the error names a thread that did not
/// arrive. Nothing on the GPU waits for work that was not enqueued.
Status makeDeviceGroup(const GroupOptions &options,
                       const std::vector<std::shared_ptr<Lanes>> &lanes,
                       std::vector<std::unique_ptr<Communicator>> &ends);

} // namespace zero::rt::cuda

#endif // RUNTIME_COMM_DEVICE_DEVICE_GROUP_H
