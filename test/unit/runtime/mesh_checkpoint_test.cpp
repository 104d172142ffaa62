//===- mesh_checkpoint_test.cpp - checkpoints of meshes of ranks ----------===//

#include "state_program.h"

#include "runtime/checkpoint/load_plan.h"

#include <cstring>
#include <filesystem>

using namespace zero::rt;

namespace {

using Sizes = std::vector<int>;

/// Tensors that are divided over data, the axes before the last one, and over tensor, the last one,
/// in all ways that stages and splits have. Tiles differ from mesh to mesh.
StateProgram divided(const Sizes &sizes, bool shards) {
  StateProgram made(sizes);
  const auto tensor = uint32_t(sizes.size() - 1);
  std::vector<uint32_t> data;
  for (uint32_t axis = 0; shards && axis < tensor; ++axis)
    data.push_back(axis);
  using Division = StateProgram::Division;
  made.addDivided(proto::F32, {"columns", {4, 12}}, Division{1, {tensor}, data, {}, {}, 0});
  made.addDivided(proto::F32, {"rows", {12, 5}}, Division{0, {tensor}, data, {}, {}, 0});
  const std::vector<uint64_t> parts =
      sizes.back() % 3 ? std::vector<uint64_t>{4, 8, 12} : std::vector<uint64_t>{12, 6, 6};
  made.addDivided(proto::BF16, {"joint", {3, 24, 2}}, Division{1, {tensor}, data, parts, {}, 0});
  const auto share = uint64_t(24 / sizes.back());
  made.addDivided(proto::F32, {"tiles of the split", {3, 24, 2}},
                  Division{1, {tensor}, data, parts, {share - 1, 1}, 1});
  made.addDivided(proto::F32, {"rows of tiles", {6, 24}},
                  Division{1, {tensor}, data, parts, {2, 3, 1}, 0});
  made.addDivided(proto::F32, {"columns of tiles", {24, 6}},
                  Division{0, {tensor}, data, parts, {1, 5}, 1});
  made.addDivided(proto::F32, {"norm", {7}}, Division{0, {}, data, {}, {}, 0});
  made.addDivided(proto::I64, {"count", {}}, Division{0, {}, {}, {}, {}, 0});
  for (proto::Tensor &each : *made.program.mutable_tensors())
    if (each.split().axes().empty())
      each.clear_split();
  made.fill();
  return made;
}

uint64_t stateBytes(const proto::Program &program) {
  uint64_t bytes = 0;
  for (const proto::Tensor &tensor : program.tensors())
    bytes += elementsOf(tensor.shape()) * sizeOf(toDType(tensor.dtype()));
  return bytes;
}

class MeshCheckpoint : public CheckpointTest,
                       public testing::WithParamInterface<std::tuple<Sizes, bool>> {};

TEST_P(MeshCheckpoint, KeepsEveryBitOnAnyMesh) {
  const auto &[sizes, shards] = GetParam();
  StateProgram saved = divided(sizes, shards);
  EXPECT_DONE(saved.save(folder, 1));
  for (const Sizes &others : {Sizes{1, 1}, {4, 1}, {1, 4}, {1, 2}, {2, 3}, {2, 2, 2}})
    for (bool other : {false, true}) {
      StateProgram loaded = divided(others, other);
      loaded.clear();
      EXPECT_DONE(loaded.load(folder));
      // All copies, also those that read() does not look at.
      StateProgram expected = divided(others, other);
      EXPECT_EQ(loaded.arenas.size(), expected.arenas.size());
      for (const proto::Tensor &tensor : saved.program.tensors()) {
        EXPECT_EQ(loaded.read(tensor.name()), saved.read(tensor.name())) << tensor.name();
        for (const Block &block : blocksOf(expected.program, expected.tensor(tensor.name())))
          for (size_t rank = 0; rank < expected.arenas.size(); ++rank) {
            const Part part = block.partOf(int(rank));
            const uint64_t size = sizeOf(toDType(tensor.dtype()));
            const uint64_t at = block.buffer->offset() + part.inBuffer * size;
            EXPECT_EQ(loaded.arenas[rank].substr(at, part.count * size),
                      expected.arenas[rank].substr(at, part.count * size))
                << tensor.name() << " on rank " << rank;
          }
      }
    }
}

TEST_P(MeshCheckpoint, WritesEachByteOnce) {
  const auto &[sizes, shards] = GetParam();
  StateProgram saved = divided(sizes, shards);
  EXPECT_DONE(saved.save(folder, 1));
  uint64_t sum = 0, most = 0;
  for (int rank = 0; rank < int(saved.program.ranks()); ++rank) {
    const std::string file = contents(folder + "/" + generationName(1) + "/" + shardName(rank));
    uint64_t header;
    std::memcpy(&header, file.data(), 8);
    sum += file.size() - 8 - header;
    most = std::max<uint64_t>(most, file.size() - 8 - header);
  }
  EXPECT_EQ(sum, stateBytes(saved.program));
  EXPECT_LE(most, sum / saved.program.ranks() + 64); // no rank writes much more than its share
}

/// Each node takes what it has from its own ranks. The first case has copies of all on both nodes,
/// the second has each share on one node only.
TEST_P(MeshCheckpoint, NodesWithFoldersOfTheirOwnAreComplete) {
  const auto &[sizes, shards] = GetParam();
  StateProgram saved = divided(sizes, shards);
  const int ranks = int(saved.program.ranks());
  for (bool byTensor : {false, true}) {
    SavingNodes nodes;
    nodes.hosts = {"a", "b"};
    for (int rank = 0; rank < ranks; ++rank)
      nodes.ofRank.push_back(byTensor ? rank % 2 : rank * 2 / ranks);
    for (nodes.own = 0; nodes.own < 2; ++nodes.own) {
      const std::string own = folder + (byTensor ? "/t" : "/d") + std::to_string(nodes.own);
      std::filesystem::create_directories(own);
      std::unique_ptr<CheckpointWriter> writer;
      proto::Manifest about;
      about.set_step(1);
      EXPECT_DONE(CheckpointWriter::create(saved.program, own, about, nodes, writer));
      Meter meter;
      for (int rank = 0; rank < ranks; ++rank)
        EXPECT_DONE(writer->writeRank(rank, saved.arena(size_t(rank)), meter));
      std::string path;
      EXPECT_DONE(writer->prepare());
      EXPECT_DONE(writer->commit(path));
      StateProgram loaded = divided(sizes, !shards);
      loaded.clear();
      EXPECT_DONE(loaded.load(own));
      for (const proto::Tensor &tensor : saved.program.tensors())
        EXPECT_EQ(loaded.read(tensor.name()), saved.read(tensor.name())) << tensor.name();
    }
  }
}

std::string nameOf(const testing::TestParamInfo<MeshCheckpoint::ParamType> &info) {
  std::string name = std::get<1>(info.param) ? "sharded" : "replicated";
  for (int size : std::get<0>(info.param))
    name += "_" + std::to_string(size);
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, MeshCheckpoint,
                         testing::Combine(testing::Values(Sizes{1, 1}, Sizes{2, 2}, Sizes{2, 3},
                                                          Sizes{1, 4}, Sizes{4, 1}, Sizes{2, 1, 2},
                                                          Sizes{2, 2, 2}),
                                          testing::Bool()),
                         nameOf);

/// On 2 x 2 ranks of two nodes, each with both shares: no rank reads a file of the other node.
TEST_F(CheckpointTest, NodesReadTheirOwnCopies) {
  StateProgram saved = divided({2, 2}, /*shards=*/false);
  SavingNodes nodes{{0, 0, 1, 1}, {"a", "b"}, 1};
  std::unique_ptr<CheckpointWriter> writer;
  proto::Manifest about, manifest;
  about.set_step(1);
  EXPECT_DONE(CheckpointWriter::create(saved.program, folder, about, nodes, writer));
  Meter meter;
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_DONE(writer->writeRank(rank, saved.arena(size_t(rank)), meter));
  std::string path;
  EXPECT_DONE(writer->prepare());
  EXPECT_DONE(writer->commit(path));
  EXPECT_DONE(readManifest(path + "/manifest.json", manifest));
  LoadPlan plan;
  EXPECT_DONE(planLoad(saved.program, manifest, plan));
  EXPECT_EQ(filesOf(plan, 2, 2), (std::vector<uint32_t>{2, 3}));
}

/// Version 2 described tiles by runs.
TEST_F(CheckpointTest, RunsOfEarlierVersionsAreRead) {
  StateProgram made(std::vector<int>{1, 1});
  made.addDivided(proto::F32, {"w", {2, 6}}, {});
  made.tensor("w").clear_split();
  proto::Manifest manifest;
  manifest.add_files()->set_name("f");
  proto::Manifest::Tensor &tensor = *manifest.add_tensors();
  tensor.set_name("w");
  tensor.set_role(proto::PARAMETER);
  tensor.set_dtype(proto::F32);
  tensor.mutable_shape()->Assign(made.tensor("w").shape().begin(), made.tensor("w").shape().end());
  for (uint64_t first : {0, 4}) {
    proto::Manifest::Range &range = *tensor.add_ranges();
    const uint64_t run = first == 0 ? 4 : 2;
    range.set_count(2 * run), range.set_offset(first == 0 ? 0 : 32);
    range.set_first(first), range.set_run(run), range.set_stride(6);
  }
  LoadPlan plan;
  EXPECT_DONE(planLoad(made.program, manifest, plan));
  std::vector<uint64_t> offsets;
  for (const RangeRead &read : plan.ranks[0])
    offsets.push_back(read.offset);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 32, 16, 40}));
}

TEST_F(CheckpointTest, CutsOutsideOfTheTensorAreRefused) {
  StateProgram saved = divided({1, 2}, false);
  EXPECT_DONE(saved.save(folder, 1));
  const std::string path = folder + "/" + generationName(1) + "/manifest.json";
  auto expectRefused = [&](auto edit) {
    proto::Manifest manifest;
    EXPECT_DONE(readManifest(path, manifest));
    for (proto::Manifest::Tensor &tensor : *manifest.mutable_tensors())
      for (proto::Manifest::Range &range : *tensor.mutable_ranges())
        if (tensor.name() == "joint" && range.cuts_size() > 0)
          edit(*range.mutable_cuts(0));
    const std::string other = folder + "/other.json";
    EXPECT_DONE(writeManifest(other, manifest));
    EXPECT_REFUSED(readManifest(other, manifest),
                   "tensor 'joint': a range is outside of it or of its file");
  };
  expectRefused([](auto &cut) { cut.set_dimension(3); });
  expectRefused([](auto &cut) { cut.set_begins(1, 23); });
  expectRefused([](auto &cut) { cut.set_begins(1, 0); });
  expectRefused([](auto &cut) { cut.set_extents(0, UINT64_MAX); });
  expectRefused([](auto &cut) { cut.add_begins(23); });
}

} // namespace
