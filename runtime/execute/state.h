//===- state.h - tensors that outlive the step ------------------*- C++ -*-===//
//
// A tensor's element i is element start + i of a bucket, of which each rank holds all
// (shards = 1) or one slice. One that is cut into tiles has a block for each. Of one that is split
// over axes of the mesh, each share has buckets of its own.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTE_STATE_H
#define RUNTIME_EXECUTE_STATE_H

#include "runtime/format/tiers.h"
#include "runtime/load/program.h"
#include "runtime/support/meter.h"

#include <functional>

namespace zero::rt {

/// The files that initial values are read from, open.
struct InitialFiles {
  std::vector<InputFile> files;
  std::vector<MappedFile> mapped; ///< by file: those that have a tensor transposed
  /// Opens all files of `program`; checks that each range is inside its file.
  static Status open(const proto::Program &program, InitialFiles &files);
};

/// Writes the initial values of `rank`'s part of each tensor into its memory, which is unwritten:
/// zeros that are there already are not written. Random numbers are drawn by up to `threads`
/// threads, which do not change them.
Status initialiseTensors(const LoadedProgram &program, const InitialFiles &files, int rank,
                         const MemoryByTier &memory, int threads, Meter &meter);

/// Writes the constants of the program of a shape into the memory of `rank`, where steps of other
/// shapes may have written.
Status writeConstants(const LoadedProgram &program, size_t shape, int rank,
                      const MemoryByTier &memory);

/// Takes bytes of a whole value from `offset` on.
using TakeBytes = std::function<Status(uint64_t offset, const char *values, uint64_t bytes)>;

/// Reads the part of `rank` in a block of a gradient in pieces, converted to gradientType() and
/// divided by its scale. Of copies, the first one is used.
Status readOwnGradient(const proto::Gradient &gradient, const Block &block, int rank,
                       const MemoryByTier &memory, const TakeBytes &take);

/// Makes `count` elements of a whole tensor, from element `begin` on, at `target`.
using MakeElements = std::function<void(uint64_t begin, uint64_t count, char *target)>;

/// Lets `make` write the part of `rank` in a block of a tensor.
Status setOwnPart(const Block &block, int rank, const MemoryByTier &memory,
                  const MakeElements &make);

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_STATE_H
