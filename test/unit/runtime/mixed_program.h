//===- mixed_program.h - a mixed-precision step by hand ---------*- C++ -*-===//
//
// loss = sum over the rows with a label >= 0 of sum(x W + b), divided by 4 and by the number of
// such rows in the global batch. W [4, 3] and the frozen b [3] are bf16. W, its f32 master and its
// accumulated gradient are sharded over the ranks. The program has the form that the compiler emits
// for stage 3: a prologue counts the rows of all micro-batches; gradients are bf16, scaled, summed
// over ranks in f32 and accumulated in f32; and if a gradient overflows, SGD is skipped and the
// scale is halved.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_MIXED_PROGRAM_H
#define TEST_UNIT_RUNTIME_MIXED_PROGRAM_H

#include "tiny_program.h"

struct MixedProgram : HandMadeProgram {
  /// `ranks` must divide 12.
  MixedProgram(int ranks, int microBatches, double scale = 1024);

  uint64_t slice; ///< elements of W on each rank

  /// Offsets in the arena.
  struct {
    uint64_t shard, master, bias, scale, rate, x, label, count, total, y, dy, part, loss, full,
        gradient, sum, found, applied, norm, shownRate, shownScale, workspace, end;
  } at;
};

#endif // TEST_UNIT_RUNTIME_MIXED_PROGRAM_H
