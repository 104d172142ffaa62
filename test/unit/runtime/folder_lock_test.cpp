//===- folder_lock_test.cpp - one run per folder of checkpoints -----------===//

#include "runtime/checkpoint/generations.h"
#include "runtime/support/file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace zero::rt;
namespace fs = std::filesystem;

namespace {

class Lock : public testing::Test {
protected:
  void TearDown() override { fs::remove_all(folder); }
  const std::string folder = testing::TempDir() + "zero-folder-lock-" + std::to_string(::getpid());
};

TEST_F(Lock, IsSharedInAProcess) {
  std::shared_ptr<FolderLock> one, two;
  ASSERT_TRUE(FolderLock::take(folder, one).ok());
  ASSERT_TRUE(FolderLock::take(folder + "/.", two).ok());
  EXPECT_EQ(one, two);
  one.reset();
  EXPECT_TRUE(fs::exists(folder + "/.lock"));
  two.reset();
  EXPECT_TRUE(fs::is_empty(folder));
}

/// Other processes are rejected as long as the owner lives, no matter how the owner ends.
TEST_F(Lock, KeepsOthersOut) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Draft draft;
    const bool isMade = Draft::create(folder, 3, draft).ok();
    (void)!::write(ready[1], "x", isMade ? 1 : 0);
    ::pause();
  }
  char byte;
  ::close(ready[1]);
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  std::shared_ptr<FolderLock> lock;
  const Status status = FolderLock::take(folder, lock);
  EXPECT_EQ(status.getMessage(),
            "'" + folder +
                "' is in use by another process: a folder has the checkpoints of one run");
  Draft draft;
  EXPECT_EQ(Draft::create(folder, 4, draft).getMessage(), status.getMessage());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(folder + "/.lock"));
  ASSERT_TRUE(Draft::create(folder, 4, draft).ok());
  size_t drafts = 0;
  for (const auto &each : fs::directory_iterator(folder))
    drafts += each.is_directory();
  EXPECT_EQ(drafts, 1u) << "that of the dead is still there";
}

TEST_F(Lock, ADraftFailsByItsOwnError) {
  Draft draft;
  ASSERT_TRUE(Draft::create(folder, 5, draft).ok());
  std::ofstream(folder + "/step-00000005") << "a file in its place";
  std::string made;
  const Status status = draft.commit(made);
  EXPECT_NE(status.getMessage().find("Not a directory"), std::string::npos) << status.getMessage();
}

} // namespace
