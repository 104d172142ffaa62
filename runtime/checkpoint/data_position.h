//===- data_position.h - resume the position in the data --------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_DATA_POSITION_H
#define RUNTIME_CHECKPOINT_DATA_POSITION_H

#include "runtime/checkpoint/manifest.pb.h"
#include "runtime/io/data_set.h"

namespace zero::rt {

/// The start of global batch `batch` of `data`, which must be prepared.
proto::Manifest::Data saveDataPosition(const DataSet &data, uint64_t batch);

/// The first global batch of `data` of which no sample had been read: exactly the next batch if the
/// batch size is unchanged; otherwise less than one batch of the epoch is omitted, which `remark`
/// reports, and no sample is read twice. Errors: another number of samples, or another order after
/// a sample of the epoch was read.
Status findDataPosition(const proto::Manifest::Data &saved, const DataSet &data, uint64_t &batch,
                        std::string &remark);

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_DATA_POSITION_H
