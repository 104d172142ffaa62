//===- eigen_gemm.h - products of f32 matrices through Eigen ----*- C++ -*-===//
//
// Eigen has vectorized products for every architecture, without state of their own: all their
// memory is given to them, so a step allocates nothing and the workspace is known exactly.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_EIGEN_GEMM_H
#define RUNTIME_DEVICE_CPU_EIGEN_GEMM_H

#include "runtime/device/cpu/library.h"
#include "runtime/device/cpu/openmp.h"

#include <algorithm>
#include <cstdint>

namespace zero::rt {

/// A matrix whose neighbouring elements of a row, or of a column, are adjacent. `stride`: from row
/// to row, or from column to column.
struct GemmMatrix {
  const float *data;
  int64_t stride;
  bool byColumns;
};

/// Bytes of scratch of gemm() for these sizes, a multiple of 64.
uint64_t gemmScratch(int64_t rows, int64_t columns, int64_t depth);

/// Adds alpha A B to C, of which rows are contiguous. The bits of an element do not depend on
/// `rows` and `columns` if these are multiples of kGemmUnit or the whole matrix's.
void gemm(int64_t rows, int64_t columns, int64_t depth, float alpha, GemmMatrix a, GemmMatrix b,
          float *c, int64_t strideOfC, void *scratch);

/// Where a matrix may be divided: a multiple of the rows and columns of Eigen's blocks in
/// registers.
inline constexpr int64_t kGemmUnit = 48;

/// A range of `total` items: part `index` of `parts`, at multiples of `unit`.
struct TaskPart {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
inline TaskPart partOf(int64_t total, int64_t index, int64_t parts, int64_t unit = 1) {
  const int64_t units = (total + unit - 1) / unit;
  return {std::min(total, units * index / parts * unit),
          std::min(total, units * (index + 1) / parts * unit)};
}

/// Runs `body(task, scratch)` for tasks [0, tasks) on `threads` threads, each of which has
/// `scratchBytes` of `workspace`.
template <typename Body>
void runTasks(int64_t tasks, int threads, char *workspace, uint64_t scratchBytes,
              const Body &body) {
  struct Call {
    int64_t tasks;
    char *workspace;
    uint64_t scratchBytes;
    const Body &body;
    void run(int64_t thread, int64_t team) const {
      const TaskPart part = partOf(tasks, thread, team);
      for (int64_t task = part.begin; task < part.end; ++task)
        body(task, workspace + uint64_t(thread) * scratchBytes);
    }
  } call{tasks, workspace, scratchBytes, body};
  if (threads <= 1)
    return call.run(0, 1);
  runOnTeam(
      [](void *data) {
        static_cast<const Call *>(data)->run(omp_get_thread_num(), omp_get_num_threads());
      },
      &call, threads);
}

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_EIGEN_GEMM_H
