//===- disk_queue_test.cpp - fast transfers to and from a disk ------------===//

#include "allocations.h"
#include "runtime/io/disk_queue.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace zero::rt;

namespace {

constexpr uint64_t kPage = kDiskAlignment, kMiB = 1 << 20;

struct Memory {
  explicit Memory(uint64_t bytes)
      : bytes(bytes), data(static_cast<uint32_t *>(std::aligned_alloc(kPage, bytes))) {}
  ~Memory() { std::free(data); }
  void fill(unsigned seed) {
    std::mt19937 random(seed);
    for (uint64_t i = 0; i < bytes / 4; ++i)
      data[i] = uint32_t(random());
  }
  uint64_t bytes;
  uint32_t *data;
};

/// An unnamed file next to the test. It is opened without the page cache where this is possible.
class DiskQueueTest : public testing::TestWithParam<DiskQueue::Kind> {
protected:
  void SetUp() override {
    descriptor = ::open(".", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    if (descriptor < 0)
      descriptor = ::open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    ASSERT_GE(descriptor, 0);
    file = {descriptor, "state.tier"};
    if (Status status = DiskQueue::make(GetParam(), 1, queue); !status.ok())
      GTEST_SKIP() << status.getMessage();
  }
  void TearDown() override { ::close(descriptor); }

  Status run(bool writes, Memory &memory, uint64_t offset, uint64_t begin, uint64_t bytes) {
    return queue->run(
        {writes, &files, offset, reinterpret_cast<char *>(memory.data) + begin, bytes});
  }
  void expectError(const Status &status, const char *part) {
    EXPECT_EQ(status.getCode(), ZERO_RT_IO);
    EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
  }

  int descriptor = -1;
  DiskFile file;
  const Stripes files{std::span(&file, 1)};
  const DiskFile closed{1 << 20, "closed"};
  const Stripes closedFiles{std::span(&closed, 1)};
  std::unique_ptr<DiskQueue> queue;
};

TEST_P(DiskQueueTest, WhatIsWrittenIsRead) {
  Memory out(21 * kMiB), in(21 * kMiB);
  out.fill(1);
  // Sizes: more than the queue can have in flight, a partial last block, and one page.
  const uint64_t sizes[] = {16 * kMiB + 3 * kPage, kPage, 512 * 1024, 4 * kMiB};
  uint64_t at = 0;
  for (uint64_t bytes : sizes) {
    Status status = run(true, out, 7 * kPage + at, at, bytes);
    ASSERT_TRUE(status.ok()) << status.getMessage();
    at += bytes;
  }
  Status status = run(false, in, 7 * kPage, 0, at);
  ASSERT_TRUE(status.ok()) << status.getMessage();
  EXPECT_EQ(std::memcmp(out.data, in.data, at), 0);
  // Reads a range in the middle.
  ASSERT_TRUE(run(false, in, 7 * kPage + 5 * kMiB, 0, kMiB).ok());
  EXPECT_EQ(std::memcmp(out.data + 5 * kMiB / 4, in.data, kMiB), 0);
}

TEST_P(DiskQueueTest, SeveralTransfersRunTogether) {
  Memory out(8 * kMiB), in(8 * kMiB);
  out.fill(5);
  // More than the queue can have in flight, of one page to several blocks, and empty ones.
  const uint64_t sizes[] = {1, 0, 2, 300, 1, 5, 0, 129};
  std::vector<Transfer> writes, reads;
  uint64_t at = 0;
  for (int i = 0; at + 300 * kPage <= out.bytes; ++i) {
    const uint64_t bytes = sizes[i % 8] * kPage;
    writes.push_back({true, &files, at, out.data + at / 4, bytes});
    reads.push_back({false, &files, at, in.data + at / 4, bytes});
    at += bytes;
  }
  ASSERT_GT(writes.size(), 16u);
  Status status = queue->run(writes);
  ASSERT_TRUE(status.ok()) << status.getMessage();
  status = queue->run(reads);
  ASSERT_TRUE(status.ok()) << status.getMessage();
  EXPECT_EQ(std::memcmp(out.data, in.data, at), 0);
  EXPECT_TRUE(queue->run(std::span<const Transfer>()).ok());
  // The error of one of them is that of all.
  reads[3] = {false, &closedFiles, 0, in.data, kPage};
  expectError(queue->run(reads), "of 'closed': Bad file descriptor");
  EXPECT_TRUE(queue->run(writes).ok()) << "the queue works after an error";
}

TEST_P(DiskQueueTest, AllocatesNothing) {
  Memory memory(4 * kMiB);
  memory.fill(2);
  ASSERT_TRUE(run(true, memory, 0, 0, memory.bytes).ok());
  AllocationWatch watch;
  ASSERT_TRUE(run(false, memory, 0, 0, memory.bytes).ok());
  EXPECT_EQ(watch.largeAllocations(), 0u);
}

TEST_P(DiskQueueTest, AFileThatEndsEarlyIsNamed) {
  Memory memory(4 * kMiB);
  memory.fill(3);
  ASSERT_TRUE(run(true, memory, 0, 0, 2 * kMiB).ok());
  expectError(run(false, memory, 0, 0, 4 * kMiB), "of 'state.tier': the file ends there");
  ASSERT_EQ(::ftruncate(descriptor, off_t(kMiB + 100)), 0); // ends inside a page
  expectError(run(false, memory, 0, 0, 2 * kMiB), "the file ends there");
  EXPECT_TRUE(run(false, memory, 0, 0, kMiB).ok()) << "the queue works after an error";
}

TEST_P(DiskQueueTest, AFullDiskIsNamed) {
  Memory memory(2 * kMiB);
  memory.fill(4);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small{kMiB, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = run(true, memory, 0, 0, 2 * kMiB);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  expectError(status, "of 'state.tier': File too large");
}

TEST_P(DiskQueueTest, ErrorsOfTheSystemAreNamed) {
  Memory memory(kMiB);
  const Transfer transfer{false, &closedFiles, 0, memory.data, kMiB};
  expectError(queue->run(transfer), "cannot read 524288 bytes at ");
  expectError(queue->run(transfer), "of 'closed': Bad file descriptor");
}

TEST_P(DiskQueueTest, WhatIsNotAlignedIsRefused) {
  Memory memory(kMiB);
  EXPECT_EQ(run(false, memory, 512, 0, kPage).getCode(), ZERO_RT_INTERNAL);
  EXPECT_EQ(run(false, memory, 0, 64, kPage).getCode(), ZERO_RT_INTERNAL);
  EXPECT_EQ(run(false, memory, 0, 0, 100).getCode(), ZERO_RT_INTERNAL);
  EXPECT_TRUE(run(false, memory, 0, 0, 0).ok());
}

std::string kindName(const testing::TestParamInfo<DiskQueue::Kind> &info) {
  const char *names[] = {"Any", "Ring", "Threads"};
  return names[int(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Kinds, DiskQueueTest,
                         testing::Values(DiskQueue::Kind::Any, DiskQueue::Kind::Ring,
                                         DiskQueue::Kind::Threads),
                         kindName);

} // namespace
