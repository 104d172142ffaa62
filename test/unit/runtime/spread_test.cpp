//===- spread_test.cpp - native kernels on several threads ----------------===//

#include "runtime/device/cpu/spread.h"

#include <atomic>
#include <gtest/gtest.h>

using namespace zero::rt;

TEST(Spread, EachIterationBelongsToOneThread) {
  for (int threads : {1, 2, 3, 7, 16, 64})
    for (int64_t extent : {0, 1, 2, 5, 16, 63, 64, 1000, 4096, 4097, 100003}) {
      int64_t next = 0, most = 0;
      for (int thread = 0; thread < threads; ++thread) {
        Share share = shareOf(extent, thread, threads);
        EXPECT_EQ(share.begin, next) << extent << " on " << threads;
        EXPECT_LE(share.begin, share.end);
        most = std::max(most, share.end - share.begin);
        next = share.end;
      }
      EXPECT_EQ(next, extent);
      // A thread has at most one cache line more than an even share.
      EXPECT_LE(most, (extent + threads - 1) / threads + 15);
    }
}

TEST(Spread, LongOnesAreCutBetweenCacheLines) {
  for (int thread = 1; thread < 3; ++thread)
    EXPECT_EQ(shareOf(100003, thread, 3).begin % 16, 0);
  // With few rows, each thread gets an even share.
  EXPECT_EQ(shareOf(34, 1, 2).begin, 17);
}

static void count(void *const *args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    ++static_cast<std::atomic<int> *>(args[0])[i];
}

TEST(Spread, EveryIterationRunsOnce) {
  for (int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> counts(10000);
    void *args[] = {counts.data()};
    spread(count, args, 10000, threads);
    for (const std::atomic<int> &value : counts)
      ASSERT_EQ(value, 1);
  }
}
