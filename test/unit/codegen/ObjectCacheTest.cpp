//===- ObjectCacheTest.cpp - object code on disk, by content --------------===//

#include "lib/Codegen/Object/ObjectCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <chrono>

using namespace llvm;
using namespace std::chrono_literals;
using zero::ObjectCache;

namespace {
class Cache : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("zero-cache", folder));
    ASSERT_EQ(cache.open(folder), "");
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string path(StringRef key) { return (folder + "/llvmcache-" + key + ".o").str(); }
  void store(StringRef key, StringRef bytes) {
    cache.store(key, ArrayRef(bytes.data(), bytes.size()));
  }
  std::string find(StringRef key) {
    auto object = cache.find(key);
    return object ? std::string(object->begin(), object->end()) : "nothing";
  }
  void setAge(StringRef key, int hours) {
    auto file =
        sys::fs::openNativeFileForReadWrite(path(key), sys::fs::CD_OpenExisting, sys::fs::OF_None);
    ASSERT_TRUE(bool(file));
    sys::fs::setLastAccessAndModificationTime(*file, std::chrono::system_clock::now() -
                                                         std::chrono::hours(hours));
    sys::fs::closeFile(*file);
  }

  SmallString<128> folder;
  ObjectCache cache;
};
} // namespace

TEST_F(Cache, FindsWhatWasStored) {
  EXPECT_EQ(find("a"), "nothing");
  store("a", "code");
  store("b", "");
  EXPECT_EQ(find("a"), "code");
  EXPECT_EQ(find("b"), "");
  EXPECT_FALSE(cache.hasFailed());
}

TEST_F(Cache, KeysNameTheText) {
  EXPECT_EQ(ObjectCache::keyOf("x"), ObjectCache::keyOf("x"));
  EXPECT_NE(ObjectCache::keyOf("x"), ObjectCache::keyOf("y"));
  EXPECT_EQ(ObjectCache::keyOf("x").size(), 64u);
}

TEST_F(Cache, DamagedEntriesAreNone) {
  store("a", "code");
  sys::fs::copy_file(path("a"), path("another"));
  EXPECT_EQ(find("another"), "nothing");
  std::error_code error;
  for (StringRef bytes : {"", "short", "forty bytes that are nobody's digest ...."}) {
    raw_fd_ostream(path("a"), error) << bytes;
    EXPECT_EQ(find("a"), "nothing");
  }
  store("a", "code");
  EXPECT_EQ(find("a"), "code");
}

TEST_F(Cache, RemovesWhatWasUsedLeastRecently) {
  for (StringRef key : {"a", "b", "c", "d"})
    store(key, std::string(100, 'x'));
  for (auto [key, hours] : {std::pair("a", 4), std::pair("b", 3), std::pair("c", 2)})
    setAge(key, hours);
  EXPECT_NE(find("a"), "nothing"); // the entry was used just before
  cache.prune(3 * 132, 0s);
  EXPECT_EQ(find("b"), "nothing");
  EXPECT_NE(find("c"), "nothing");
  cache.prune(1, 0s);
  for (StringRef key : {"a", "c", "d"})
    EXPECT_EQ(find(key), "nothing");
}

TEST_F(Cache, LooksForThemOncePerInterval) {
  store("a", "code");
  cache.prune(1, 1h);
  EXPECT_EQ(find("a"), "nothing");
  store("a", "code");
  cache.prune(1, 1h);
  EXPECT_EQ(find("a"), "code");
  cache.prune(1, 0s);
  EXPECT_EQ(find("a"), "nothing");
}

TEST_F(Cache, RefusesFoldersThatAreNotItsOwn) {
  ObjectCache other;
  sys::fs::setPermissions(folder, sys::fs::all_all);
  EXPECT_EQ(other.open(folder), "others may write to it, and its content would be executed");
  sys::fs::setPermissions(folder, sys::fs::owner_all | sys::fs::group_all);
  EXPECT_EQ(other.open(folder), "others may write to it, and its content would be executed");
  sys::fs::setPermissions(folder, sys::fs::owner_all);
  store("a", "code");
  EXPECT_EQ(other.open(path("a")), "it is no folder");
  EXPECT_EQ(other.open((folder + "/deep/new").str()), "");
  sys::fs::file_status status;
  ASSERT_FALSE(sys::fs::status(folder + "/deep/new", status));
  EXPECT_EQ(status.permissions(), sys::fs::owner_all);
}

TEST_F(Cache, KeepsTheFolderThatItChecked) {
  store("a", "code");
  std::string moved = (folder + ".moved").str();
  ASSERT_FALSE(sys::fs::rename(folder, moved));
  ASSERT_FALSE(sys::fs::create_directory(folder));
  sys::fs::copy_file(moved + "/llvmcache-a.o", path("b"));
  EXPECT_EQ(find("a"), "code");
  store("c", "more");
  EXPECT_EQ(find("c"), "more");
  EXPECT_FALSE(sys::fs::exists(path("c")));
  sys::fs::remove_directories(moved);
}
