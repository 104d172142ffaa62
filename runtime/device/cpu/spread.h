//===- spread.h - a native kernel on the threads of a rank ------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_SPREAD_H
#define RUNTIME_DEVICE_CPU_SPREAD_H

#include "runtime/device/cpu/module.h"

namespace zero::rt {

/// Iterations [begin, end).
struct Share {
  int64_t begin, end;
};

/// The share of `extent` iterations that thread `thread` of `threads` runs. Long ranges are divided
/// at multiples of 16, so that threads write to no common cache line.
Share shareOf(int64_t extent, int thread, int threads);

/// Runs `extent` iterations of `kernel` on `threads` threads of OpenMP's, the calling
/// one among them, and waits for all.
void spread(NativeKernel kernel, void *const *args, int64_t extent, int threads);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_SPREAD_H
