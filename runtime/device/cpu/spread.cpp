//===- spread.cpp - a native kernel on the threads of a rank --------------===//

#include "runtime/device/cpu/spread.h"

#include "runtime/device/cpu/openmp.h"

#include <algorithm>

namespace zero::rt {

Share shareOf(int64_t extent, int thread, int threads) {
  int64_t each = (extent + threads - 1) / threads;
  // A vector of floats is 16 elements, and a cache line. Of a few rows one more or less
  // would weigh more than a shared line.
  if (each >= 256)
    each = (each + 15) / 16 * 16;
  return {std::min(thread * each, extent), std::min((thread + 1) * each, extent)};
}

namespace {
struct Work {
  NativeKernel kernel;
  void *const *args;
  int64_t extent;
};
} // namespace

static void runShare(void *data) {
  const Work &work = *static_cast<const Work *>(data);
  // OpenMP may give fewer threads than it was asked for.
  Share share = shareOf(work.extent, omp_get_thread_num(), omp_get_num_threads());
  if (share.begin < share.end)
    work.kernel(work.args, share.begin, share.end);
}

void spread(NativeKernel kernel, void *const *args, int64_t extent, int threads) {
  Work work{kernel, args, extent};
  runOnTeam(runShare, &work, threads);
}

} // namespace zero::rt
