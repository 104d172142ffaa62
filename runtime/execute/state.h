//===- state.h - tensors that outlive the step ------------------*- C++ -*-===//
//
// A tensor's element i is element start + i of a bucket, of which each rank holds all
// (shards = 1) or one slice. One that is cut into tiles has a block for each.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTE_STATE_H
#define RUNTIME_EXECUTE_STATE_H

#include "runtime/format/tiers.h"
#include "runtime/load/program.h"
#include "runtime/support/meter.h"

namespace zero::rt {

/// The files that initial values are read from, open.
struct InitialFiles {
  std::vector<InputFile> files;
  std::vector<MappedFile> mapped; ///< by file: those that have a tensor transposed
  /// Opens all files of `program`; checks that each range is inside its file.
  static Status open(const proto::Program &program, InitialFiles &files);
};

/// Writes the initial values of `rank`'s part of each tensor into its memory, which is unwritten:
/// zeros that are there already are not written.
Status initialiseTensors(const LoadedProgram &program, const InitialFiles &files, int rank,
                         const MemoryByTier &memory, Meter &meter);

/// Copies the part of `rank` in a block of a tensor to its place in `whole`, the full tensor. Of
/// replicas, that of rank 0 is used.
Status copyOwnPart(const Block &block, int rank, const MemoryByTier &memory, void *whole);

/// The same for a block of a gradient: converted to gradientType() and divided by its scale.
Status copyOwnGradient(const proto::Gradient &gradient, const Block &block, int rank,
                       const MemoryByTier &memory, void *whole);

/// The reverse: copies the part of `rank` in `block` from `whole`.
Status setOwnPart(const Block &block, int rank, const MemoryByTier &memory, const void *whole);

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_STATE_H
