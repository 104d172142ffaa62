//===- checkpoint_damage_test.cpp - generations, complete and damaged -----===//

#include "state_program.h"

#include <cstring>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace zero::rt;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

/// Returns the id of a process that has ended.
int deadProcess() {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

class Damaged : public CheckpointTest {
protected:
  void SetUp() override {
    CheckpointTest::SetUp();
    program.add(proto::PARAMETER, proto::F32, true, {{"w", {9}}});
    program.add(proto::OPTIMIZER, proto::I64, false, {{"count", {}}});
    for (uint64_t step : {5, 6}) {
      program.fill();
      program.write("count", std::string(8, char(step)));
      EXPECT_DONE(program.save(folder, step));
    }
  }

  std::string newest(const std::string &file) { return folder + "/step-00000006/" + file; }
  /// Expects that damage of the newest generation is reported and the generation before it is
  /// loaded. If there is no other generation, the damage is the error, and nothing is changed.
  void expectPassedOver(const std::string &part) {
    program.clear();
    EXPECT_DONE(program.load(folder));
    EXPECT_EQ(program.generation, folder + "/step-00000005");
    EXPECT_EQ(program.read("count"), std::string(8, 5));
    ASSERT_EQ(program.damaged.size(), 1u);
    EXPECT_EQ(program.damaged[0].path, folder + "/step-00000006");
    EXPECT_NE(program.damaged[0].what.find(part), std::string::npos) << program.damaged[0].what;
    program.clear();
    EXPECT_REFUSED(program.load(folder + "/step-00000006"), part);
    EXPECT_EQ(program.read("count"), std::string(8, 0x55));
  }

  StateProgram program{2};
};

TEST_F(Damaged, NotAtAll) {
  program.clear();
  EXPECT_DONE(program.load(folder));
  EXPECT_EQ(program.generation, folder + "/step-00000006");
  EXPECT_TRUE(program.damaged.empty());
  EXPECT_DONE(program.load(folder + "/step-00000005/"));
  EXPECT_EQ(program.read("count"), std::string(8, 5));
}

TEST_F(Damaged, EveryByteOfTheManifestIsChecked) {
  const std::string path = newest(kManifestName), whole = contents(path);
  for (size_t at = 0; at < whole.size(); ++at)
    for (char bits : {1, 0x20}) {
      flip(path, at, bits);
      proto::Manifest manifest;
      EXPECT_FALSE(readManifest(path, manifest).ok()) << "byte " << at << " of\n" << whole;
      flip(path, at, bits);
    }
  EXPECT_EQ(contents(path), whole);
  std::string wrong = whole;
  wrong.replace(wrong.find("\"6\""), 3, "\"9\"");
  replace(path, wrong);
  expectPassedOver("step-00000006/manifest.json': wrong checksum: expected ");
  replace(path, whole.substr(0, whole.size() / 2));
  expectPassedOver("step-00000006/manifest.json': it is no manifest: ");
  replace(path, "");
  expectPassedOver("step-00000006/manifest.json': it is no manifest: ");
  replace(path, "{\"later\":" + std::string(20000, '[') + std::string(20000, ']') + "}");
  expectPassedOver("step-00000006/manifest.json': it is no manifest: more than 64 levels");
}

TEST_F(Damaged, EveryByteOfTheFilesIsChecked) {
  for (int rank : {0, 1}) {
    const std::string path = newest(shardName(rank));
    for (size_t at = 0; at < fs::file_size(path); ++at) {
      flip(path, at, 4);
      EXPECT_FALSE(program.load(folder + "/step-00000006").ok()) << "byte " << at;
      flip(path, at, 4);
    }
  }
  EXPECT_DONE(program.load(folder + "/step-00000006"));
  flip(newest(shardName(1)), fs::file_size(newest(shardName(1))) - 1, 1);
  expectPassedOver("rank-00001.safetensors': wrong checksum: expected ");
}

TEST_F(Damaged, FilesHaveTheirLength) {
  const std::string path = newest(shardName(0)), whole = contents(path);
  replace(path, whole.substr(0, whole.size() - 1));
  expectPassedOver("rank-00000.safetensors': truncated: expected " + std::to_string(whole.size()) +
                   " bytes, got " + std::to_string(whole.size() - 1));
  replace(path, whole + "x");
  expectPassedOver("rank-00000.safetensors': wrong size: expected ");
  replace(path, "");
  expectPassedOver("rank-00000.safetensors': truncated: expected ");
  fs::remove(path);
  expectPassedOver("cannot open '" + path + "': No such file or directory");
  fs::create_directory(path);
  expectPassedOver("not a regular file");
}

TEST_F(Damaged, ManifestMayBeMissing) {
  fs::remove(newest(kManifestName));
  expectPassedOver("cannot open '" + newest(kManifestName) + "'");
}

/// The checksums are correct, but the contents that they cover are not.
TEST_F(Damaged, ManifestsThatLieAreRefused) {
  proto::Manifest whole;
  EXPECT_DONE(readManifest(newest(kManifestName), whole));
  auto change = [&](auto edit, const std::string &part) {
    proto::Manifest manifest = whole;
    edit(manifest);
    EXPECT_DONE(writeManifest(newest(kManifestName), manifest));
    expectPassedOver(part);
  };
  change([](auto &m) { m.set_step(7); }, "manifest.json': it is of step 7");
  change([](auto &m) { m.mutable_files(0)->set_name("../rank-00000.safetensors"); },
         "file '../rank-00000.safetensors' is not in the directory of the manifest");
  change([](auto &m) { m.mutable_files(0)->set_name(""); }, "file '' is not in the directory of");
  change([](auto &m) { m.mutable_tensors(0)->mutable_ranges(0)->set_file(2); },
         "tensor 'w': a range is outside of it or of its file");
  change([](auto &m) { m.mutable_tensors(0)->mutable_ranges(0)->set_begin(UINT64_MAX); },
         "tensor 'w': a range is outside of it or of its file");
  change([](auto &m) { m.mutable_tensors(0)->mutable_ranges(0)->set_offset(UINT64_MAX - 3); },
         "tensor 'w': a range is outside of it or of its file");
  auto strided = [](proto::Manifest &m, uint64_t first, uint64_t run, uint64_t stride) {
    proto::Manifest::Range &range = *m.mutable_tensors(0)->mutable_ranges(0);
    range.set_first(first);
    range.set_run(run);
    range.set_stride(stride);
  };
  for (auto [first, run, stride] : std::vector<std::array<uint64_t, 3>>{
           {1, 0, 0}, {0, 2, 1}, {0, 1, UINT64_MAX}, {UINT64_MAX, 1, 1}, {0, UINT64_MAX, 1}})
    change([&](auto &m) { strided(m, first, run, stride); },
           "tensor 'w': a range is outside of it or of its file");
  change([](auto &m) { m.mutable_tensors(0)->mutable_ranges(1)->set_offset(24); },
         "rank-00001.safetensors': a range of 'w' is beyond its end");
  change([](auto &m) { m.mutable_tensors(0)->set_shape(0, uint64_t(1) << 63); },
         "tensor 'w': bad element type or shape");
  change([](auto &m) { m.mutable_tensors(0)->set_dtype(proto::DTYPE_UNSPECIFIED); },
         "tensor 'w': bad element type or shape");
  change([](auto &m) { m.mutable_tensors(1)->set_name("w"); }, "tensor 'w' occurs twice");
}

TEST_F(Damaged, AnotherVersionIsNotDamaged) {
  std::string text = contents(newest(kManifestName));
  text.replace(text.find("\"version\": 4"), 12, "\"version\": 5");
  text.replace(text.find("\"step\""), 6, "\"news\"");
  text.replace(text.find("\"checksum\": \"") + 13, 8, "00000000");
  auto bytes = reinterpret_cast<const uint8_t *>(text.data());
  text.replace(text.find("00000000"), 8, format("%08x", crc32Of({bytes, text.size()})));
  replace(newest(kManifestName), text);
  EXPECT_REFUSED(program.load(folder), "manifest.json': wrong version: expected 4, got 5");
}

TEST_F(Damaged, AllOfThemAreNamed) {
  fs::remove(newest(shardName(1)));
  fs::resize_file(folder + "/step-00000005/" + shardName(0), 10);
  EXPECT_REFUSED(program.load(folder), "no complete checkpoint in '" + folder + "': cannot open '" +
                                           newest(shardName(1)) +
                                           "': No such file or directory; '" + folder +
                                           "/step-00000005/rank-00000.safetensors': truncated");
}

//===----------------------------------------------------------------------===//
// Generations
//===----------------------------------------------------------------------===//

TEST_F(Damaged, TwoGenerationsStay) {
  EXPECT_EQ(names(), (Names{"step-00000005", "step-00000006"}));
  EXPECT_DONE(program.save(folder, 17));
  EXPECT_EQ(names(), (Names{"step-00000006", "step-00000017"}));
  // Saves the same step a second time, replacing the existing generation.
  fs::remove(folder + "/step-00000017/" + shardName(0));
  EXPECT_DONE(program.save(folder, 17));
  EXPECT_EQ(names(), (Names{"step-00000006", "step-00000017"}));
  EXPECT_DONE(program.load(folder));
  EXPECT_TRUE(program.damaged.empty());
  EXPECT_DONE(program.save(folder, 123456789));
  EXPECT_EQ(names(), (Names{"step-00000017", "step-123456789"}));
}

TEST_F(Damaged, LaterStepsAreAnotherRuns) {
  EXPECT_DONE(checkNoneLater(folder, 6, {}));
  EXPECT_DONE(checkNoneLater(folder + "/nothing", 0, {}));
  EXPECT_REFUSED(checkNoneLater(folder, 5, {}), "step-00000006' is of a later step than 5");
  EXPECT_DONE(checkNoneLater(folder, 5, {folder + "//step-00000006"}));
  EXPECT_REFUSED(checkNoneLater(folder, 4, {folder + "/step-00000006"}), "step-00000005' is");
  // A generation that was passed over is removed when a better one exists.
  EXPECT_DONE(program.save(folder, 4));
  EXPECT_EQ(names(), Names{"step-00000004"});
}

TEST_F(Damaged, TemporariesOfTheDeadGo) {
  const std::string dead = folder + "/.step-00000009.tmp-" + std::to_string(deadProcess());
  Draft owned;
  EXPECT_DONE(Draft::create(folder, 9, owned));
  const std::string alive = owned.path();
  const std::string other = folder + "/.step-9.tmp-1234567890";
  for (const std::string &path : {dead, alive, other, folder + "/notes"}) {
    fs::create_directories(path);
    replace(path + "/file", "x");
  }
  EXPECT_DONE(program.save(folder, 7));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive) && fs::exists(other) && fs::exists(folder + "/notes/file"));
  EXPECT_DONE(program.load(folder));
  EXPECT_EQ(program.generation, folder + "/step-00000007");
}

/// A save that is aborted leaves nothing, and the generations are unchanged.
TEST_F(Damaged, FailuresLeaveWhatThereWas) {
  proto::Manifest about;
  about.set_step(7);
  std::unique_ptr<CheckpointWriter> writer;
  EXPECT_DONE(CheckpointWriter::create(program.program, folder, about, {}, writer));
  Meter meter;
  EXPECT_DONE(writer->writeRank(0, program.arena(0), meter));
  EXPECT_EQ(names().size(), 4u); // with the draft and the lock
  fs::create_directory_symlink("/", draftPath(folder, 7, writer->token()) + "/" + shardName(1));
  EXPECT_REFUSED(writer->writeRank(1, program.arena(1), meter), "not a regular file");
  EXPECT_REFUSED(writer->writeRank(0, program.arena(0), meter), "another rank could not write");
  writer.reset();
  EXPECT_EQ(names(), (Names{"step-00000005", "step-00000006"}));
  replace(folder + "/file", "x");
  EXPECT_REFUSED(program.save(folder + "/file", 8), "cannot make folder '" + folder + "/file'");
  EXPECT_REFUSED(program.save(folder + "/file/in", 8), "cannot make");
}

TEST(Generations, AreFoundByName) {
  uint64_t step = 99;
  for (const char *name : {"step-1", "step-0000001", "step-00000001x", "xstep-00000001", "step-",
                           "step-000000001", "step-99999999999999999999", ".step-00000001"})
    EXPECT_FALSE(parseGenerationName(name, step)) << name;
  EXPECT_TRUE(parseGenerationName("a/b/step-00000102//", step));
  EXPECT_EQ(step, 102u);
  EXPECT_TRUE(parseGenerationName(generationName(UINT64_MAX), step));
  EXPECT_EQ(step, UINT64_MAX);
}

TEST_F(CheckpointTest, NothingIsNotFound) {
  std::vector<Generation> found;
  EXPECT_EQ(findGenerations(folder, found).getCode(), ZERO_RT_NOT_FOUND);
  fs::create_directory(folder);
  EXPECT_REFUSED(findGenerations(folder, found), "no checkpoint in '" + folder + "'");
  EXPECT_DONE(findGenerations(folder + "/step-00000003", found));
  EXPECT_EQ(found.size(), 1u);
  std::shared_ptr<CheckpointReader> reader;
  EXPECT_REFUSED(CheckpointReader::open(found[0], reader), "step-00000003/manifest.json': No such");
  replace(folder + "/file", "");
  found.clear();
  EXPECT_EQ(findGenerations(folder + "/file", found).getCode(), ZERO_RT_IO);
}

} // namespace
