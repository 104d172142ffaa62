//===- host_ends.h - GPUs' communicators for data of the host ---*- C++ -*-===//

#ifndef TEST_UNIT_GPU_HOST_ENDS_H
#define TEST_UNIT_GPU_HOST_ENDS_H

#include "runtime/comm/threads/threads.h"

#include <memory>
#include <vector>

/// A group of ranks that share a GPU of the recording driver, as the suite for communicators
/// wants it: each call carries what it is given to the GPU, waits, and carries it back.
std::vector<std::unique_ptr<zero::rt::Communicator>>
makeSharedGpuGroup(const zero::rt::ThreadGroupOptions &options);

/// The same for ranks with a GPU each, through NCCL's interface.
std::vector<std::unique_ptr<zero::rt::Communicator>>
makeNcclGpuGroup(const zero::rt::ThreadGroupOptions &options);

#endif // TEST_UNIT_GPU_HOST_ENDS_H
