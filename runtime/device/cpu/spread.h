//===- spread.h - a native kernel on the threads of a rank ------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_SPREAD_H
#define RUNTIME_DEVICE_CPU_SPREAD_H

#include "runtime/device/cpu/module.h"
#include "runtime/support/finite.h"

namespace zero::rt {

/// Iterations [begin, end).
struct Share {
  int64_t begin, end;
};

/// The share of `extent` iterations that thread `thread` of `threads` runs. Long ranges are divided
/// at multiples of 16, so that threads write to no common cache line.
Share shareOf(int64_t extent, int thread, int threads);

/// Runs `extent` iterations of `kernel` on `threads` threads of OpenMP's, the calling
/// one among them, and waits for all. With `check`, which `kernel` reads in the order of its
/// iterations, each thread looks at a piece of what it checks and then runs the iterations that
/// read it: so it comes from memory once. The bits of the results are the same for any pieces.
void spread(NativeKernel kernel, void *const *args, int64_t extent, int threads,
            FiniteCheck *check = nullptr);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_SPREAD_H
