//===- saved_bytes.h - bytes of a checkpoint --------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_SAVED_BYTES_H
#define TOOLS_ZERO_RUN_SAVED_BYTES_H

#include "job.h"

namespace zero::run {

/// What the ranks of this node write to a checkpoint.
rt::Status countSavedByNode(const Options &options, const Job &job, const Executable &executable,
                            uint64_t &bytes);
/// What those of this process do.
rt::Status countSavedByProcess(const Options &options, const Job &job, const Executable &executable,
                               uint64_t &bytes);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_SAVED_BYTES_H
