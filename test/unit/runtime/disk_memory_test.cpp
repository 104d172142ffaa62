//===- disk_memory_test.cpp - the nvme tier between steps -----------------===//

#include "runtime/io/disk_memory.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>
#include <vector>

using namespace zero::rt;

namespace {

class DiskMemoryTest : public testing::TestWithParam<int> {};

/// Writes and reads at any offset and length have the same effect as in memory, on any number of
/// drives.
TEST_P(DiskMemoryTest, IsMemory) {
  char pattern[] = "zero-disk-memory-XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  std::string list;
  for (int drive = 0; drive < GetParam(); ++drive) {
    const std::string path = folder + "/" + std::to_string(drive);
    std::filesystem::create_directory(path);
    list += (drive ? "," : "") + path;
  }
  constexpr uint64_t kBytes = (uint64_t(3) << 20) + kDiskAlignment;
  DriveFolders folders;
  TierFiles files;
  std::unique_ptr<DiskMemory> memory;
  ASSERT_TRUE(DriveFolders::parse(list, folders).ok());
  ASSERT_TRUE(files.create(folders, {1, 0, 1, kBytes}).ok());
  ASSERT_TRUE(DiskMemory::open(files, DiskQueue::Kind::Any, memory).ok());
  EXPECT_EQ(memory->host(), nullptr);
  std::vector<char> expected(kBytes);
  std::mt19937_64 random(7);
  auto length = [&](uint64_t most) {
    return std::min(most, random() % (uint64_t(1) << (random() % 22)));
  };
  for (int i = 0; i < 200; ++i) {
    const uint64_t offset = random() % kBytes, bytes = length(kBytes - offset);
    uint64_t next = 0; // pieces are contiguous
    auto at = [&](uint64_t done, uint64_t count) {
      EXPECT_EQ(done, next);
      EXPECT_TRUE(done + count == bytes || count % Memory::kPiece == 0);
      next = done + count;
      return expected.data() + offset + done;
    };
    auto make = [&](char *piece, uint64_t done, uint64_t count) {
      char *own = at(done, count);
      for (uint64_t j = 0; j < count; ++j)
        own[j] = piece[j] = char(random());
      return Status();
    };
    auto use = [&](const char *piece, uint64_t done, uint64_t count) {
      EXPECT_EQ(std::memcmp(at(done, count), piece, count), 0) << offset + done;
      return Status();
    };
    EXPECT_TRUE(
        (i % 2 ? memory->read(offset, bytes, use) : memory->write(offset, bytes, make)).ok());
    EXPECT_EQ(next, bytes);
  }
  const std::string path = files.getFiles().back().path;
  EXPECT_TRUE(std::filesystem::exists(path));
  files.remove();
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Drives, DiskMemoryTest, testing::Values(1, 2, 3));

} // namespace
