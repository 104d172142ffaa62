//===- data_position.h - where the data goes on -----------------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_DATA_POSITION_H
#define RUNTIME_CHECKPOINT_DATA_POSITION_H

#include "runtime/checkpoint/manifest.pb.h"
#include "runtime/io/data_set.h"

namespace zero::rt {

/// Where global batch `batch` of `data`, which is prepared, begins.
proto::Manifest::Data saveDataPosition(const DataSet &data, uint64_t batch);

/// The first global batch of `data` of which no sample had been read: exactly the next
/// one where batches are as large as they were; else less than one batch of the epoch is
/// left out, which `remark` tells, and none is read twice. Refused: another number of
/// samples, or another order once a sample of it was read.
Status findDataPosition(const proto::Manifest::Data &saved, const DataSet &data, uint64_t &batch,
                        std::string &remark);

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_DATA_POSITION_H
