//===- tier_file_test.cpp - a rank's memory of the nvme tier --------------===//

#include "runtime/io/disk_queue.h"
#include "runtime/io/tier_file.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace zero::rt;

namespace {

constexpr TierIdentity kIdentity{0x1234, 1, 2, 64 * kDiskAlignment};

class TierFileTest : public testing::Test {
protected:
  void SetUp() override {
    char pattern[] = "tier-XXXXXX";
    folder = mkdtemp(pattern);
    path = folder + "/rank1.tier";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void expectRefused(const Status &status, const std::string &part) {
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
    EXPECT_NE(status.getMessage().find("rank1.tier'"), std::string::npos) << status.getMessage();
  }
  Status open(const TierIdentity &identity = kIdentity) {
    TierFile file;
    return TierFile::open(path, identity, file);
  }
  /// Creates a file after one step.
  void makeOld() {
    TierFile file;
    Status status = TierFile::create(path, kIdentity, file);
    ASSERT_TRUE(status.ok()) << status.getMessage();
    ASSERT_TRUE(file.beginStep().ok());
    ASSERT_TRUE(file.endStep().ok());
  }
  void change(std::streamoff offset) {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(offset);
    stream.put('!');
  }

  std::string folder, path;
};

TEST_F(TierFileTest, WhatIsInItStays) {
  makeOld();
  EXPECT_EQ(std::filesystem::file_size(path), TierFile::place(kIdentity.bytes));
  void *memory = std::aligned_alloc(kDiskAlignment, kDiskAlignment);
  auto *bytes = static_cast<char *>(memory);
  std::unique_ptr<DiskQueue> queue;
  ASSERT_TRUE(DiskQueue::make(DiskQueue::Kind::Any, 1, queue).ok());
  auto run = [&](bool writes) {
    TierFile file;
    Status status = TierFile::open(path, kIdentity, file);
    ASSERT_TRUE(status.ok()) << status.getMessage();
    EXPECT_EQ(file.generation(), 1u);
    const DiskFile opened{file.descriptor(), file.path().c_str()};
    const Stripes whole(std::span(&opened, 1), TierFile::place(0));
    status = queue->run({writes, &whole, kIdentity.bytes - kDiskAlignment, memory, kDiskAlignment});
    ASSERT_TRUE(status.ok()) << status.getMessage();
  };
  bytes[17] = 42;
  run(true);
  bytes[17] = 0;
  run(false);
  EXPECT_EQ(bytes[17], 42);
  std::free(memory);
}

TEST_F(TierFileTest, ANewOneReadsAsZerosWhateverWasThere) {
  {
    std::ofstream old(path);
    old << "ZEROTIER" << std::string(kIdentity.bytes, '!');
  }
  TierFile file;
  ASSERT_TRUE(TierFile::create(path, kIdentity, file).ok());
  EXPECT_TRUE(file.startsAsZeros());
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(std::streamoff(TierFile::place(0)));
  std::string bytes(kIdentity.bytes, '?');
  stream.read(bytes.data(), std::streamsize(bytes.size()));
  EXPECT_EQ(bytes, std::string(kIdentity.bytes, '\0'));
}

TEST_F(TierFileTest, AFileOfAnotherProgramRankOrSizeIsRefused) {
  makeOld();
  TierIdentity other = kIdentity;
  other.program = 1;
  expectRefused(open(other), "belongs to another executable");
  other = kIdentity;
  other.rank = 0;
  expectRefused(open(other), "expected the file of rank 0 of 2, got that of rank 1 of 2");
  other = kIdentity;
  other.drives = 2;
  expectRefused(open(other), "expected the file of drive 0 of 2, got that of drive 0 of 1");
  other = kIdentity;
  other.bytes *= 2;
  expectRefused(open(other), "expected 528384 bytes, got 266240");
  EXPECT_TRUE(open().ok());
}

TEST_F(TierFileTest, DamageIsRefused) {
  expectRefused(open(), "No such file");
  makeOld();
  change(50); // the generation
  expectRefused(open(), "the header is damaged");
  makeOld();
  change(4000);
  expectRefused(open(), "the header is damaged");
  makeOld();
  std::filesystem::resize_file(path, 5000);
  expectRefused(open(), "expected 266240 bytes, got 5000; it was truncated or changed");
  std::filesystem::resize_file(path, 100);
  expectRefused(open(), "got 100; it was truncated or changed");
  change(0);
  expectRefused(open(), "is no tier file");
}

TEST_F(TierFileTest, AProcessThatDiesInAStepLeavesATornFile) {
  makeOld();
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    TierFile file;
    if (TierFile::open(path, kIdentity, file).ok() && file.beginStep().ok())
      raise(SIGKILL);
    _exit(1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFSIGNALED(state));
  expectRefused(open(), "a process died in step 1");
  makeOld(); // a new file may replace it
  EXPECT_TRUE(open().ok());
}

TEST_F(TierFileTest, OneProcessAtATime) {
  TierFile file, other;
  ASSERT_TRUE(TierFile::create(path, kIdentity, file).ok());
  expectRefused(TierFile::create(path, kIdentity, other), "in use by another process");
  expectRefused(open(), "in use by another process");
  file.remove();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(TierFileTest, OtherFilesAreNotOverwritten) {
  std::ofstream(path) << "my thesis";
  TierFile file;
  expectRefused(TierFile::create(path, kIdentity, file), "is no tier file: it is not overwritten");
  EXPECT_EQ(std::filesystem::file_size(path), 9u);
  std::filesystem::remove(path);
  std::ofstream(folder + "/elsewhere") << "my thesis";
  std::filesystem::create_symlink("elsewhere", path);
  expectRefused(TierFile::create(path, kIdentity, file), "cannot open");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  expectRefused(TierFile::create(path, kIdentity, file), "cannot open");
}

TEST_F(TierFileTest, ADiskThatIsTooSmallIsFoundBeforeTheRun) {
  TierIdentity huge = kIdentity;
  huge.bytes = uint64_t(1) << 60;
  TierFile file;
  expectRefused(TierFile::create(path, huge, file),
                "needs 1152921504606851072 bytes, its disk has ");
  EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
