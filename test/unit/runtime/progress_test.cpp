//===- progress_test.cpp - counters on which threads wait -----------------===//

#include "runtime/execute/progress.h"

#include <gtest/gtest.h>
#include <thread>

using namespace zero::rt;

namespace {

constexpr std::chrono::duration<double> kLong(30), kShort(0.05);

TEST(Progress, TwoThreadsThatWaitForEachOther) {
  Progress progress(2, 2);
  constexpr uint64_t kTurns = 2000;
  uint64_t shared = 0; // one of them writes it in each iteration
  std::thread other([&] {
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      EXPECT_EQ(progress.await(1, 0, turn + 1, kLong), Progress::Reached);
      shared += turn;
      progress.advance(1);
    }
  });
  uint64_t expected = 0;
  for (uint64_t turn = 0; turn < kTurns; ++turn) {
    progress.advance(0);
    EXPECT_EQ(progress.await(0, 1, turn + 1, kLong), Progress::Reached);
    EXPECT_EQ(shared, expected += turn);
  }
  other.join();
}

TEST(Progress, EndsByPatience) {
  Progress progress(3, 2);
  EXPECT_EQ(progress.await(0, 1, 1, kShort), Progress::TimedOut);
  std::thread other([&] { // a counter that changes must not cause a timeout
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      progress.advance(2);
    }
    progress.advance(1);
  });
  EXPECT_EQ(progress.await(0, 1, 1, std::chrono::duration<double>(5)), Progress::Reached);
  other.join();
}

TEST(Progress, EndsWhenToldTo) {
  Progress progress(2, 2);
  std::thread other([&] {
    EXPECT_EQ(progress.await(1, 0, 1), Progress::Stopped);
    progress.advance(1);
  });
  progress.stop();
  EXPECT_EQ(progress.awaitLast(0, 1, 1, kLong), Progress::Reached);
  EXPECT_EQ(progress.await(0, 1, 1, kLong), Progress::Stopped);
  EXPECT_EQ(progress.awaitLast(0, 1, 2, kShort), Progress::TimedOut);
  other.join();
}

} // namespace
