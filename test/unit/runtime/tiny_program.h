//===- tiny_program.h - a hand-written training step ------------*- C++ -*-===//
//
// loss = mean(x W) with x [2, 4] per rank and W [4, 3] sharded over the ranks. The program has the
// form that the compiler emits for stage 3: gather, products, check, reduce-scatter, SGD.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_TINY_PROGRAM_H
#define TEST_UNIT_RUNTIME_TINY_PROGRAM_H

#include "runtime/format/format.h"

#include <map>
#include <string>
#include <vector>

/// Makes each command wait for the last command before it on every other lane, so that all commands
/// run in the listed order.
void orderLanes(zero::rt::proto::Program &program);

/// Tables of a program that runs with the test kernels.
struct HandMadeProgram {
  zero::rt::proto::Program program;
  std::string code;     ///< empty: the test kernels
  std::string hostCode; ///< of a program for GPUs
  /// Sets the waits of commands before they are written.
  void (*order)(zero::rt::proto::Program &) = orderLanes;

  zero::rt::proto::Segment &segment(int index) { return *program.mutable_segments(index); }
  /// Declares the values that are read and written at every address. Each place has one value,
  /// whose number is that of its first byte, starting with 1. `uses`: the access of each kernel to
  /// its arguments, one letter each: r reads, w writes (also scratch), u updates.
  void numberValues(const std::map<uint64_t, uint64_t> &bytes,
                    const std::vector<const char *> &uses);
  /// Writes the program with the waits of its commands, and the test kernels or `code`, to a file
  /// in the temporary folder of the test.
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

/// Returns the code section of the tests.
std::string testKernels();

/// Returns W's initial values, i / 8, from the data section.
std::string tinyWeights();

#endif // TEST_UNIT_RUNTIME_TINY_PROGRAM_H
