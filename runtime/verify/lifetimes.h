//===- lifetimes.h - lifetimes of bytes -------------------------*- C++ -*-===//
// Derived from the commands in program order, iteration by iteration, independently of the
// compiler's lifetimes.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_VERIFY_LIFETIMES_H
#define RUNTIME_VERIFY_LIFETIMES_H

#include "runtime/format/accesses.h"
#include "runtime/format/mode.h"

#include <set>
#include <string_view>

namespace zero::rt {

/// Something that happens to an arena in a step.
struct Moment {
  enum Kind {
    Inputs,  ///< the runtime writes inputs: all, or those that `segment` lists
    Renames, ///< of `segment`, from `index` to `end`
    Command, ///< `index` of `segment`; its predicate or iteration may skip it
    Finish,  ///< the runtime looks at the loss, and perhaps at the gradients
    Outputs  ///< the runtime copies the outputs
  };
  Kind kind;
  int segment; ///< -1: none
  int index = 0, end = 0;
  uint64_t iteration = 0;
  std::vector<ByteRange> deaths = {}; ///< accessed here and not read before the next write
};

/// Accesses of all commands, by segment and index.
using SegmentAccesses = std::vector<std::vector<std::vector<Access>>>;

SegmentAccesses accessesOf(const proto::Program &program, int rank);

/// The values that delayed commands read.
std::set<uint32_t> delayedReads(const proto::Program &program, const SegmentAccesses &accesses);

/// The bytes that outlive the step.
RangeSet persistentBytes(const proto::Program &program, int rank);

/// Whether `command` executes in iteration `iteration` of `segment`, without its predicate.
bool runsInIteration(proto::Command::When when, uint64_t iteration, uint64_t iterations);

/// How often a step runs `command` of `segment`, its predicate apart.
uint64_t iterationsOf(const proto::Segment &segment, const proto::Command &command);

/// Whether an output of this name is read before the epilogue.
bool isLoss(std::string_view name);

/// Adds to `moments` those of iteration `iteration` of segment `number`, without deaths.
void listIteration(const proto::Program &program, int number, uint64_t iteration, Mode mode,
                   std::vector<Moment> &moments);

/// The moments of a run of `program` in `mode` on `rank`, with the bytes that die at each.
std::vector<Moment> lifetimesOf(const proto::Program &program, int rank,
                                const SegmentAccesses &accesses, Mode mode);

} // namespace zero::rt

#endif // RUNTIME_VERIFY_LIFETIMES_H
