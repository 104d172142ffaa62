//===- host_ends.h - GPUs' communicators for data of the host ---*- C++ -*-===//

#ifndef TEST_UNIT_GPU_HOST_ENDS_H
#define TEST_UNIT_GPU_HOST_ENDS_H

#include "runtime/comm/host/host_group.h"

#include <memory>
#include <vector>

/// Makes a group of ranks that share a GPU of the recording driver, with the interface that the
/// suite for communicators expects: each call copies its data to the GPU, waits, and copies the
/// result back.
std::vector<std::unique_ptr<zero::rt::Communicator>>
makeSharedGpuGroup(const zero::rt::GroupOptions &options);

/// The same for ranks that have a GPU each, through the interface of NCCL.
std::vector<std::unique_ptr<zero::rt::Communicator>>
makeNcclGpuGroup(const zero::rt::GroupOptions &options);

#endif // TEST_UNIT_GPU_HOST_ENDS_H
