//===- tiny_program.h - a training step by hand -----------------*- C++ -*-===//
//
// loss = mean(x W) with x [2, 4] per rank and W [4, 3] sharded over the ranks, as the
// compiler would emit it for stage 3: gather, products, check, reduce-scatter, SGD.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_TINY_PROGRAM_H
#define TEST_UNIT_RUNTIME_TINY_PROGRAM_H

#include "runtime/format/format.h"

#include <map>
#include <string>
#include <vector>

/// Lets each command wait for the last one before it on every other lane: they run in the
/// order in which they are listed.
void orderLanes(zero::rt::proto::Program &program);

/// Tables that run with the test kernels.
struct HandMadeProgram {
  zero::rt::proto::Program program;
  std::string code; ///< empty: the test kernels
  /// Gives commands the waits that they are written with.
  void (*order)(zero::rt::proto::Program &) = orderLanes;

  zero::rt::proto::Segment &segment(int index) { return *program.mutable_segments(index); }
  /// Says of every address what is read and written there: each place holds one value,
  /// whose number is that of its first byte, from 1 on. `uses`: what each kernel does with
  /// its arguments, a letter each: r reads, w writes (also scratch), u updates.
  void numberValues(const std::map<uint64_t, uint64_t> &bytes,
                    const std::vector<const char *> &uses);
  /// Writes the program, its commands with waits, and the test kernels, or `code`, to a file in the
  /// test's temporary folder.
  std::string write(const std::string &name, const std::string &isa = "sse2") const;
};

struct TinyProgram : HandMadeProgram {
  explicit TinyProgram(int ranks, int microBatches = 1);

  uint64_t slice; ///< elements of W on each rank

  /// Offsets in the arena.
  struct {
    uint64_t shard, count, constant, lr, x, label, y, dy, loss, localLoss, range, full, gradient,
        workspace, end;
  } at;
};

/// The code section of the tests.
std::string testKernels();

/// W's initial values: i / 8, from the data section.
std::string tinyWeights();

#endif // TEST_UNIT_RUNTIME_TINY_PROGRAM_H
