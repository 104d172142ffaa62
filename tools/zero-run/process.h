//===- process.h - one process per rank -------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_PROCESS_H
#define TOOLS_ZERO_RUN_PROCESS_H

#include "options.h"

namespace zero::run {

/// For a run whose other ranks are in other processes (--join): takes from torchrun's
/// variables what was not said, refuses what needs all ranks, and leaves to rank 0 what one
/// of them prints and writes for all.
rt::Status setUpProcess(Options &options);

/// Whether other processes have the other ranks.
inline bool isOneOfMany(const Options &options) { return options.session.rank >= 0; }

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_PROCESS_H
