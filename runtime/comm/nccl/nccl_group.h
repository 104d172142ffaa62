//===- nccl_group.h - ranks with one GPU each -------------------*- C++ -*-===//
//
// Uses NCCL, which selects the order of additions. Sums may therefore differ in their bits from
// those of ranks that share a GPU or run on CPUs, and 16-bit floats are rounded in between.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_COMM_NCCL_NCCL_GROUP_H
#define RUNTIME_COMM_NCCL_NCCL_GROUP_H

#include "runtime/comm/host/host_group.h"
#include "runtime/comm/nccl/nccl.h"
#include "runtime/device/cuda/lanes.h"

namespace zero::rt::cuda {

/// The communicators of a new group, by rank: threads of this process, each with a separate GPU.
/// Threads synchronize before each collective, so that the error names one that does not arrive.
Status makeNcclGroup(const GroupOptions &options, const std::vector<std::shared_ptr<Lanes>> &lanes,
                     std::vector<std::unique_ptr<Communicator>> &ends);

/// An id for each group that `options` names: NCCL has a communicator for each. One process makes
/// them for all.
Status makeNcclIds(const Nccl &nccl, const GroupOptions &options, std::vector<NcclId> &ids);

/// Adds the communicator of `rank` in a group of processes with one GPU each. All pass the same
/// `ids`. A missing process is detected by the timeout; NCCL does not report which one it is.
Status joinNcclGroup(std::shared_ptr<const Nccl> nccl, const std::vector<NcclId> &ids, int rank,
                     const GroupOptions &options, std::shared_ptr<Lanes> lanes,
                     std::vector<std::unique_ptr<Communicator>> &ends);

} // namespace zero::rt::cuda

#endif // RUNTIME_COMM_NCCL_NCCL_GROUP_H
