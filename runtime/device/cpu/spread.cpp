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
  FiniteCheck *check;
};
} // namespace

/// Elements that a thread looks at before it runs the kernel on them: they stay in its first-level
/// cache.
static constexpr int64_t kCheckedAtOnce = 4096;

static void run(const Work &work, Share share) {
  if (!work.check) {
    work.kernel(work.args, share.begin, share.end);
    return;
  }
  const auto all = int64_t(work.check->size());
  const int64_t each = (all + work.extent - 1) / work.extent; // elements of an iteration
  const int64_t step = std::max<int64_t>(kCheckedAtOnce / std::max<int64_t>(each, 1), 1);
  for (int64_t begin = share.begin; begin < share.end; begin += step) {
    const int64_t end = std::min(begin + step, share.end);
    work.check->look(uint64_t(begin * each), uint64_t(std::min(end * each, all)));
    work.kernel(work.args, begin, end);
  }
}

static void runShare(void *data) {
  const Work &work = *static_cast<const Work *>(data);
  // OpenMP may give fewer threads than it was asked for.
  Share share = shareOf(work.extent, omp_get_thread_num(), omp_get_num_threads());
  if (share.begin < share.end)
    run(work, share);
}

void spread(NativeKernel kernel, void *const *args, int64_t extent, int threads,
            FiniteCheck *check) {
  Work work{kernel, args, extent, check};
  if (threads > 1)
    runOnTeam(runShare, &work, threads);
  else
    run(work, {0, extent});
}

} // namespace zero::rt
