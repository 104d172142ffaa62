//===- temporary_test.cpp - files left when a process ends ----------------===//

#include "runtime/support/file.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

using namespace zero::rt;
namespace fs = std::filesystem;

namespace {

class Temporaries : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "zero-temporaries-" + std::to_string(::getpid()) + "/";
    fs::create_directory(folder);
    path = folder + "file";
  }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto &each : fs::directory_iterator(folder))
      found.push_back(each.path().filename());
    return found;
  }
  static std::string contents(const std::string &of) {
    std::ifstream in(of, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Runs `body` in a separate process, which ends without running destructors.
  template <typename Body>
  static void inProcess(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      body();
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }

  std::string folder, path;
};

TEST_F(Temporaries, OfTheDeadAreSwept) {
  inProcess([&] {
    static OutputFile dead;
    if (!OutputFile::create(path, dead).ok() || !dead.write("x").ok())
      ::_exit(1);
  });
  EXPECT_EQ(names().size(), 1u);
  OutputFile alive;
  ASSERT_TRUE(OutputFile::create(path, alive).ok());
  EXPECT_EQ(names().size(), 1u) << "that of the dead is still there";
  // Files with similar names and files in use are not removed.
  std::ofstream(path + ".tmp-12345") << "x";
  std::ofstream(folder + "files.tmp-0123456789abcdef") << "x";
  OutputFile second;
  ASSERT_TRUE(OutputFile::create(path, second).ok());
  EXPECT_EQ(names().size(), 4u);
  ASSERT_TRUE(second.write("second").ok() && second.commit().ok());
  ASSERT_TRUE(alive.write("first").ok() && alive.commit().ok());
  EXPECT_EQ(contents(path), "first");
  EXPECT_EQ(names().size(), 3u);
}

TEST_F(Temporaries, FilesOfOthersStay) {
  {
    OutputFile file;
    ASSERT_TRUE(OutputFile::create(path, file).ok());
    const std::string name = folder + names().at(0);
    fs::remove(name);
    std::ofstream(name) << "of somebody else";
  }
  ASSERT_EQ(names().size(), 1u);
  EXPECT_EQ(contents(folder + names()[0]), "of somebody else");
}

TEST_F(Temporaries, AllGoWithTheProcess) {
  inProcess([&] {
    static std::vector<OutputFile> files(300); // more than a chunk of the table has
    static OwnedFolder inner;
    bool isMade = OwnedFolder::create(folder + "inner", 0700, inner).ok();
    std::ofstream(inner.path() + "/one") << "x";
    for (size_t i = 0; i < files.size(); ++i)
      isMade = isMade && OutputFile::create(path + std::to_string(i), files[i]).ok();
    // Commits some files; new ones reuse their entries.
    for (size_t i = 0; i < 100; ++i)
      isMade = isMade && files[i].commit().ok() &&
               OutputFile::create(path + "x" + std::to_string(i), files[i]).ok();
    if (!isMade)
      ::_exit(1);
    removeTemporaries(/*isFailure=*/false);
  });
  EXPECT_EQ(names().size(), 100u);
}

TEST_F(Temporaries, OnlyAFailureIsSurvived) {
  std::ofstream(path) << "old";
  for (bool isFailure : {false, true})
    inProcess([&] {
      static OutputFile file;
      if (!OutputFile::create(path, file).ok() || !file.write("new").ok())
        ::_exit(1);
      file.surviveFailure();
      removeTemporaries(isFailure);
      if (contents(path) != (isFailure ? "new" : "old"))
        ::_exit(1);
    });
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(Temporaries, WhatIsPublishedStaysAndGrows) {
  {
    OutputFile file;
    ASSERT_TRUE(OutputFile::create(path, file).ok());
    ASSERT_TRUE(file.write("one ").ok() && file.publish().ok());
    EXPECT_EQ(contents(path), "one ");
    ASSERT_TRUE(file.write("two").ok());
    EXPECT_EQ(contents(path), "one two");
    ASSERT_TRUE(file.publish().ok());
  }
  EXPECT_EQ(contents(path), "one two");
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(Temporaries, AFailedRenameSaysWhy) {
  OutputFile file;
  ASSERT_TRUE(OutputFile::create(path, file).ok());
  fs::create_directory(path);
  const Status status = file.commit();
  EXPECT_NE(status.getMessage().find("Is a directory"), std::string::npos) << status.getMessage();
  EXPECT_EQ(names().size(), 1u) << "the temporary is left";
}

TEST_F(Temporaries, MappedFilesAreKnownByAddress) {
  std::ofstream(path) << std::string(5000, 'x');
  MappedFile file;
  ASSERT_TRUE(MappedFile::open(path, file).ok());
  const uint8_t *data = file.bytes().data();
  EXPECT_EQ(mappedFileAt(data - 1), nullptr);
  EXPECT_EQ(mappedFileAt(data + 5000), nullptr);
  EXPECT_STREQ(mappedFileAt(data + 4999), path.c_str());
}

TEST_F(Temporaries, FoldersAreMadeOneInTheOther) {
  ASSERT_TRUE(makeFolders(folder + "a/b//c/").ok());
  EXPECT_TRUE(fs::is_directory(folder + "a/b/c"));
  ASSERT_TRUE(makeFolders(folder + "a/b").ok());
  std::ofstream(path) << "x";
  EXPECT_NE(makeFolders(path + "/b").getMessage().find("it is a file"), std::string::npos);
  EXPECT_TRUE(syncFolder(folder).ok() && syncFolderOf(path).ok());
  EXPECT_FALSE(syncFolder(folder + "nothing").ok());
}

} // namespace
