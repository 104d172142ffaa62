//===- checkpoint_test.cpp - checkpoints load in other configurations -----===//

#include "state_program.h"

#include "runtime/checkpoint/load_plan.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/floats.h"

#include <cstring>

using namespace zero::rt;

namespace {

using Program = StateProgram;

/// Weights, moments, statistics and counters as a stage stores them on `ranks` ranks. `gap`
/// simulates another bucket size.
Program training(int ranks, int stage, uint64_t gap = 0) {
  Program made(ranks);
  std::vector<Program::Member> weights = {{"w", {4, 3}}, {"six", {6}}, {"b", {1}}}, moments;
  for (const Program::Member &weight : weights)
    moments.push_back({weight.name + ".m", weight.shape});
  made.add(proto::OPTIMIZER, proto::F64, false, {{"optimizer.power", {}}});
  made.add(proto::PARAMETER, proto::F32, stage == 3, weights, gap);
  made.add(proto::OPTIMIZER, proto::F32, stage >= 1, moments, gap + 1);
  for (const Program::Member &moment : moments)
    made.tensor(moment.name).set_of(moment.name.substr(0, moment.name.size() - 2));
  made.add(proto::BUFFER, proto::F32, false, {{"running_mean", {5}}});
  made.add(proto::OPTIMIZER, proto::I64, false, {{"count", {1}}});
  made.add(proto::CONSTANT, proto::F32, false, {{"constant", {2}}});
  made.add(proto::BUFFER, proto::U8, stage == 3, {{"bytes", {7}}});
  made.add(proto::PARAMETER, proto::F32, stage == 3, {{"empty", {0, 3}}});
  made.fill();
  return made;
}

void expectSame(Program &got, Program &expected) {
  for (const proto::Tensor &tensor : expected.program.tensors())
    if (tensor.role() != proto::CONSTANT)
      EXPECT_EQ(got.read(tensor.name()), expected.read(tensor.name())) << tensor.name();
}

class Resharding : public CheckpointTest,
                   public testing::WithParamInterface<std::tuple<int, int>> {};

TEST_P(Resharding, KeepsEveryBit) {
  auto [ranks, stage] = GetParam();
  Program saved = training(ranks, stage);
  EXPECT_DONE(saved.save(folder, 7));
  for (int others : {1, 3, 4, 7})
    for (int other : {0, 1, 3})
      for (uint64_t gap : {0, 5}) {
        SCOPED_TRACE(testing::Message() << "on " << others << " at stage " << other);
        Program loaded = training(others, other, gap);
        loaded.clear();
        EXPECT_DONE(loaded.load(folder));
        expectSame(loaded, saved);
        EXPECT_EQ(loaded.read("constant"), std::string(8, 0x55));
        EXPECT_TRUE(loaded.remarks.empty());
      }
}

INSTANTIATE_TEST_SUITE_P(Saved, Resharding,
                         testing::Combine(testing::Values(1, 2, 3, 4, 7),
                                          testing::Values(0, 1, 3)));

/// One weight and its moment as a stage stores them, in one piece (no `extents`) or in tiles.
Program tiled(int ranks, int stage, uint32_t axis, std::vector<uint64_t> extents) {
  Program made(ranks);
  auto add = [&](const char *name, proto::Role role, bool sharded) {
    if (extents.empty())
      made.add(role, proto::F32, sharded, {{name, {2, 6, 5}}});
    else
      made.addTiled(role, proto::F32, sharded, {name, {2, 6, 5}}, axis, extents);
  };
  add("w", proto::PARAMETER, stage == 3);
  add("w.m", proto::OPTIMIZER, stage >= 1);
  made.tensor("w.m").set_of("w");
  made.fill();
  return made;
}

TEST_P(Resharding, KeepsEveryBitOfTiles) {
  auto [ranks, stage] = GetParam();
  struct Kind {
    uint32_t axis;
    std::vector<uint64_t> extents;
  };
  const std::vector<Kind> kinds = {{0, {}}, {0, {1, 1}}, {1, {4, 2}}, {2, {2, 2, 1}}};
  uint64_t step = 0;
  for (const Kind &from : kinds) {
    Program saved = tiled(ranks, stage, from.axis, from.extents);
    EXPECT_DONE(saved.save(folder, ++step));
    for (const Kind &to : kinds)
      for (int others : {1, 3}) {
        SCOPED_TRACE(testing::Message() << "from " << from.axis << " to " << to.axis);
        Program loaded = tiled(others, 3 - stage, to.axis, to.extents);
        loaded.clear();
        EXPECT_DONE(loaded.load(folder));
        expectSame(loaded, saved);
      }
  }
}

TEST_F(CheckpointTest, WritesNoByteTwiceAndBalances) {
  for (int stage : {0, 3}) {
    Program saved = training(4, stage);
    EXPECT_DONE(saved.save(folder, uint64_t(stage)));
    uint64_t expected = 0, sum = 0, least = UINT64_MAX, most = 0;
    for (const proto::Tensor &tensor : saved.program.tensors())
      if (tensor.role() != proto::CONSTANT)
        expected += elementsOf(tensor.shape()) * sizeOf(toDType(tensor.dtype()));
    for (int rank = 0; rank < 4; ++rank) {
      std::string file =
          contents(folder + "/" + generationName(uint64_t(stage)) + "/" + shardName(rank));
      uint64_t header;
      std::memcpy(&header, file.data(), 8);
      const uint64_t bytes = file.size() - 8 - header;
      sum += bytes, least = std::min(least, bytes), most = std::max(most, bytes);
    }
    EXPECT_EQ(sum, expected);
    if (stage == 0)
      EXPECT_LE(most - least, 8u);
  }
}

/// A reader without knowledge of the manifest finds parts by their names.
TEST_F(CheckpointTest, FilesAreSafetensors) {
  Program saved(2);
  // The first rank writes the first tensor and an equal number of elements of the second.
  saved.add(proto::PARAMETER, proto::F32, false, {{"t[0:2]", {1}}, {"t", {4}}, {"a\"b\\", {1}}});
  saved.add(proto::OPTIMIZER, proto::F64, true, {{"wide", {2, 2}}, {"one", {1, 1}}});
  saved.fill();
  EXPECT_DONE(saved.save(folder, 0));
  std::vector<std::string> found;
  for (int rank = 0; rank < 2; ++rank) {
    std::string file = contents(folder + "/step-00000000/" + shardName(rank));
    auto *begin = reinterpret_cast<const uint8_t *>(file.data());
    EXPECT_NE(file.find("\"rank\":\"" + std::to_string(rank) + " of 2\""), std::string::npos);
    std::map<std::string, Array> tensors;
    EXPECT_DONE(parseSafetensors({begin, file.size()}, tensors));
    for (auto &[name, array] : tensors) {
      found.push_back(name + " " + shapeText(array.shape));
      EXPECT_EQ(uint64_t(array.bytes.data() - begin) % sizeOf(array.dtype), 0u) << name;
      const std::string bytes(array.bytes.begin(), array.bytes.end());
      if (name == "t[0:2]'")
        EXPECT_EQ(bytes, saved.read("t").substr(0, 8));
      else if (name.starts_with("wide"))
        EXPECT_EQ(bytes, saved.read("wide").substr(rank * 24, 24 - rank * 16));
      else if (name != "t[2:4]")
        EXPECT_EQ(bytes, saved.read(name));
    }
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"t[0:2] [1]", "t[0:2]' [2]", "wide[0:3] [3]", "a\"b\\ [1]",
                                      "one [1, 1]", "t[2:4] [2]", "wide[3:4] [1]"}));
  Program loaded = saved;
  loaded.clear();
  EXPECT_DONE(loaded.load(folder));
  expectSame(loaded, saved);
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

/// w in f32 without a master, or in `narrow` with one; the frozen f has the same type.
Program mixed(int ranks, proto::DType narrow, bool sharded, bool scaled) {
  Program made(ranks);
  made.add(proto::PARAMETER, narrow, sharded, {{"w", {5, 3}}}, 2);
  made.add(proto::PARAMETER, narrow, false, {{"f", {3}}});
  made.tensor("f").set_frozen(true);
  if (narrow != proto::F32) {
    made.add(proto::OPTIMIZER, proto::F32, true, {{"w.master", {5, 3}}});
    made.tensor("w.master").set_of("w");
    made.tensor("w.master").set_master(true);
  }
  made.add(proto::OPTIMIZER, proto::F32, true, {{"w.m", {5, 3}}}, 1);
  made.tensor("w.m").set_of("w");
  if (scaled)
    made.add(proto::OPTIMIZER, proto::F32, false, {{"loss_scale", {}}, {"loss_scale.good", {}}});
  made.clear(0);
  return made;
}

std::string floats(size_t count, float from) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i, from = from * 1.1f + 1e-3f)
    bytes.append(reinterpret_cast<const char *>(&from), 4);
  return bytes;
}

std::string rounded(const std::string &wide, proto::DType dtype) {
  std::string narrow(wide.size() / 2, '\0');
  convertFloats(ZERO_RT_F32, wide.data(), toDType(dtype), narrow.data(), wide.size() / 4);
  return narrow;
}

TEST_F(CheckpointTest, TheMasterIsTheValueOfItsParameter) {
  for (proto::DType narrow : {proto::BF16, proto::F16})
    for (bool sharded : {false, true}) {
      SCOPED_TRACE(testing::Message() << proto::DType_Name(narrow) << sharded);
      const std::string values = floats(15, 0.3f), moments = floats(15, -2);
      Program saved = mixed(4, narrow, sharded, false);
      saved.write("w.master", values);
      saved.write("w", rounded(values, narrow));
      saved.write("w.m", moments);
      EXPECT_DONE(saved.save(folder, 1));
      proto::Manifest manifest;
      EXPECT_DONE(readManifest(folder + "/step-00000001/manifest.json", manifest));
      std::vector<std::string> names;
      for (const auto &tensor : manifest.tensors())
        names.push_back(tensor.name() + " " + proto::DType_Name(tensor.dtype()));
      EXPECT_EQ(names,
                (std::vector<std::string>{"f " + proto::DType_Name(narrow), "w F32", "w.m F32"}));
      Program wide = mixed(3, proto::F32, true, false);
      EXPECT_DONE(wide.load(folder));
      EXPECT_EQ(wide.read("w"), values);
      EXPECT_EQ(wide.read("w.m"), moments);
      Program same = mixed(2, narrow, !sharded, false);
      EXPECT_DONE(same.load(folder));
      EXPECT_TRUE(same.remarks.empty());
      EXPECT_EQ(same.read("w.master"), values);
      EXPECT_EQ(same.read("w"), rounded(values, narrow));
      EXPECT_DONE(wide.save(folder, 2));
      Program back = mixed(5, narrow, sharded, false);
      EXPECT_DONE(back.load(folder));
      EXPECT_EQ(back.read("w.master"), values);
      EXPECT_EQ(back.read("w"), rounded(values, narrow));
      EXPECT_EQ(back.read("w.m"), moments);
    }
}

TEST_F(CheckpointTest, RemarksOnWhatPrecisionChanges) {
  Program wide = mixed(2, proto::F32, true, false), scaled = mixed(3, proto::F16, false, true);
  wide.write("f", floats(3, 0.7f));
  EXPECT_DONE(wide.save(folder, 1));
  const std::string start = floats(1, 65536);
  scaled.write("loss_scale", start);
  EXPECT_DONE(scaled.load(folder));
  EXPECT_EQ(scaled.read("loss_scale"), start);
  EXPECT_EQ(scaled.read("f"), rounded(floats(3, 0.7f), proto::F16));
  EXPECT_EQ(scaled.remarks,
            (std::vector<std::string>{
                "saved in float32, resumed in float16",
                "2 not saved, set to their initial values: 'loss_scale', 'loss_scale.good'",
                "1 converted: 'f' (float32 to float16)"}));
  EXPECT_DONE(scaled.save(folder, 2));
  EXPECT_DONE(wide.load(folder));
  EXPECT_EQ(wide.remarks, (std::vector<std::string>{"saved in float16, resumed in float32",
                                                    "2 not used: 'loss_scale', 'loss_scale.good'",
                                                    "1 converted: 'f' (float16 to float32)"}));
  Program again = mixed(2, proto::F16, true, true);
  EXPECT_DONE(again.load(folder + "/step-00000002"));
  EXPECT_EQ(again.read("loss_scale"), start);
  EXPECT_TRUE(again.remarks.empty());
}

/// Numbers of `bits`-bit codes, from -1 to 1.
static Codes evenCodes(uint64_t bits, uint64_t size) {
  Codes codes{bits, size, {}};
  for (int i = 0, count = 1 << bits; i < count; ++i)
    codes.numbers.push_back(float(2 * i - count + 1) / float(count - 1));
  return codes;
}

TEST(Codes, WhatIsDecodedIsEncodedToTheSameCodes) {
  for (const uint64_t bits : {8, 4}) {
    const Codes codes = evenCodes(bits, 6);
    std::vector<uint8_t> bytes(6 * 2 * bits / 8), again(bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = uint8_t(0xff - 0x1d * i); // the first code of either block stands for 1
    bytes[6 * bits / 8] = 0xff;
    std::vector<float> scales{0.5f, 3}, elements(12), found(2);
    decodeBlocks(codes, bytes.data(), scales.data(), 0, 12, elements.data());
    EXPECT_EQ(elements[0], 0.5f);
    EXPECT_EQ(elements[6], 3.0f);
    BlockEncoder(codes).encode(elements.data(), 12, again.data(), found.data());
    EXPECT_EQ(again, bytes);
    EXPECT_EQ(found, scales);
  }
}

TEST(Codes, NearestNumbersAndBlocksOfZeros) {
  const Codes codes{4, 2, {-1, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const float elements[] = {0, 0, 4, -1.4f};
  uint8_t bytes[2];
  float scales[2];
  BlockEncoder(codes).encode(elements, 4, bytes, scales);
  EXPECT_EQ(bytes[0], 0x33); // 0, 0
  EXPECT_EQ(bytes[1], 0x27); // 1, -0.35 is nearest to -0.25
  EXPECT_EQ(scales[1], 4.0f);
  EXPECT_GT(scales[0], 0.0f);
}

TEST_F(CheckpointTest, OnlyARealMasterCounts) {
  Program orphan = mixed(2, proto::BF16, false, false), twice = orphan, other = orphan;
  orphan.tensor("w.master").set_of("nothing");
  EXPECT_REFUSED(orphan.save(folder, 0), "tensor 'w.master': no parameter has it as its master");
  twice.tensor("w.m").set_master(true);
  EXPECT_REFUSED(twice.save(folder, 0), "tensor 'w.m': no parameter has it as its master");
  other.tensor("f").set_name("w.m");
  EXPECT_REFUSED(other.save(folder, 0), "tensor 'w.m' occurs twice");
}

//===----------------------------------------------------------------------===//
// Mismatches
//===----------------------------------------------------------------------===//

class Fitting : public CheckpointTest {
protected:
  void SetUp() override {
    CheckpointTest::SetUp();
    EXPECT_DONE(training(4, 3).save(folder, 0));
    EXPECT_DONE(readManifest(folder + "/step-00000000/manifest.json", manifest));
  }
  proto::Manifest::Tensor &saved(const std::string &name) {
    for (proto::Manifest::Tensor &each : *manifest.mutable_tensors())
      if (each.name() == name)
        return each;
    ADD_FAILURE() << name;
    return *manifest.mutable_tensors(0);
  }
  Status plan(LoadPlan &made) { return planLoad(program.program, manifest, made); }
  void refused(const std::string &part) {
    LoadPlan made;
    EXPECT_REFUSED(plan(made), part);
    EXPECT_TRUE(made.ranks.empty());
  }

  Program program = training(3, 1);
  proto::Manifest manifest;
};

TEST_F(Fitting, MissingTensorsAreNamed) {
  saved("w.m").set_name("gone");
  saved("six").set_name("gone too");
  refused("2 missing: 'six', 'w.m'");
  refused("1 that the program does not have: 'gone too'");
  refused("1 that the optimizer does not keep: 'gone'");
}

TEST_F(Fitting, ShapesAndTypesAreNamed) {
  saved("w").set_shape(0, 3);
  saved("w").set_shape(1, 4);
  saved("count").set_dtype(proto::F64);
  refused("2 of another shape or type: 'w' (expected [4, 3], got [3, 4]), "
          "'count' (expected int64, got float64)");
}

TEST_F(Fitting, CodesThatDoNotFitAreNamed) {
  proto::Manifest::Tensor::Blocks &blocks = *saved("w.m").mutable_blocks();
  blocks.set_bits(8);
  blocks.set_size(4);
  blocks.set_scales("w.m.scale");
  manifest.add_tables()->mutable_numbers()->Resize(256, 0);
  refused("'w.m' (expected float32, got 8-bit codes)"); // without scales
  blocks.set_bits(4);
  refused("'w.m' (expected float32, got 4-bit codes)"); // of twice as many elements
}

TEST_F(Fitting, GapsAreNamed) {
  ASSERT_EQ(saved("w").ranges_size(), 3);
  proto::Manifest::Range &middle = *saved("w").mutable_ranges(1);
  ASSERT_EQ(middle.begin(), 5u);
  middle.set_count(middle.count() - 1);
  refused("1 saved only in part: 'w' (without elements 9 to 9)");
  saved("w").mutable_ranges()->DeleteSubrange(2, 1);
  refused("1 saved only in part: 'w' (without elements 9 to 11)");
  saved("w").clear_ranges();
  refused("1 saved only in part: 'w' (without elements 0 to 11)");
}

TEST_F(Fitting, OverlapsAreNamed) {
  *saved("w").add_ranges() = saved("w").ranges(1);
  refused("1 saved twice in part: 'w' (elements 5 to 9)");
  saved("w").mutable_ranges(3)->set_begin(11);
  saved("w").mutable_ranges(3)->set_count(1);
  refused("1 saved twice in part: 'w' (elements 11 to 11)");
  saved("w").mutable_ranges(3)->set_begin(6);
  refused("1 saved twice in part: 'w' (elements 6 to 9)");
}

TEST_F(Fitting, RangesMayBeInAnyOrderAndEmpty) {
  saved("w").mutable_ranges()->SwapElements(0, 2);
  saved("w").add_ranges()->set_begin(7);
  LoadPlan made;
  EXPECT_DONE(plan(made));
  uint64_t elements = 0;
  for (const auto &rank : made.ranks)
    for (const RangeRead &read : rank)
      elements += read.count;
  // Moments are sharded over the three ranks; every rank has the rest.
  EXPECT_EQ(elements, 19u + 3 * (1 + 19 + 5 + 1 + 7));
}

TEST_F(Fitting, StateOfWhatIsFrozenNowIsLeft) {
  auto *tensors = program.program.mutable_tensors();
  program.tensor("six").set_frozen(true);
  tensors->erase(std::find_if(tensors->begin(), tensors->end(),
                              [](auto &tensor) { return tensor.name() == "six.m"; }));
  LoadPlan made;
  EXPECT_DONE(plan(made));
  EXPECT_EQ(made.remarks, std::vector<std::string>{"1 not used: 'six.m'"});
  program.tensor("six").set_frozen(false);
  refused("1 that the optimizer does not keep: 'six.m'");
}

TEST_F(Fitting, AnotherOptimizerIsRemarked) {
  program.program.set_optimizer("adamw(weight_decay=0.1)");
  LoadPlan made;
  EXPECT_DONE(plan(made));
  EXPECT_EQ(made.remarks, std::vector<std::string>{
                              "saved with optimizer '', resumed with 'adamw(weight_decay=0.1)'"});
}

} // namespace
