//===- scale_ranks.h - a program on other ranks -----------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_SCALE_RANKS_H
#define TOOLS_ZERO_SIM_SCALE_RANKS_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/status.h"

namespace zero::sim {

/// Changes the sizes of `program`'s commands to those on `ranks` ranks, at least 1, of which each
/// keeps its batch: a rank's slices of buckets and all that is computed on them or moved of them.
/// What each rank has whole, the order of commands, and where they read and write stay as they are,
/// so that the program can be simulated, but not run. `program` has passed validate().
///
/// Errors name what cannot be scaled: one rank, which exchanges nothing; several axes of the mesh;
/// a number of ranks that nodes of the program do not divide; a command that uses slices in sizes
/// that do not follow from theirs.
rt::Status scaleRanks(rt::proto::Program &program, uint32_t ranks);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_SCALE_RANKS_H
