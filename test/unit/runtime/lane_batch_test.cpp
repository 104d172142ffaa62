//===- lane_batch_test.cpp - commands of a disk that run together ---------===//

#include "runtime/execute/lane_work.h"

#include <gtest/gtest.h>

using namespace zero::rt;

namespace {

constexpr uint64_t kMiB = 1 << 20;

/// A batch of reads of `bytes` each.
class LaneBatch : public testing::Test {
protected:
  Command read(uint64_t memory, uint64_t offset, uint64_t bytes) {
    return {
        DiskCommand{false, reinterpret_cast<void *>(memory), offset, bytes}, {}, 0, "read", false};
  }
  bool accepts(const Command &command) { return LaneWork::accepts(batch, command); }

  LaneWork::Batch batch{.mostBytes = 8 * kMiB};
};

TEST_F(LaneBatch, AcceptsWhatTouchesOtherBytes) {
  const Command first = read(16 * kMiB, 0, kMiB);
  batch.add(first);
  EXPECT_TRUE(accepts(read(17 * kMiB, kMiB, kMiB)));
  EXPECT_FALSE(accepts(read(17 * kMiB, kMiB - 1, kMiB))) << "the same bytes of the file";
  EXPECT_FALSE(accepts(read(17 * kMiB - 1, kMiB, kMiB))) << "the same bytes of memory";
  EXPECT_FALSE(accepts(Command{CopyCommand{}, {}, 0, "copy", false})) << "not of a disk";
}

TEST_F(LaneBatch, IsBounded) {
  const Command large = read(32 * kMiB, 0, 7 * kMiB);
  batch.add(large);
  EXPECT_TRUE(accepts(read(64 * kMiB, 8 * kMiB, kMiB)));
  EXPECT_FALSE(accepts(read(64 * kMiB, 8 * kMiB, kMiB + 1))) << "more than is in flight";
  const Command small = read(0, 0, 0);
  while (batch.size < LaneWork::Batch::kMost)
    batch.add(small);
  EXPECT_FALSE(accepts(read(64 * kMiB, 8 * kMiB, 1)));
}

} // namespace
