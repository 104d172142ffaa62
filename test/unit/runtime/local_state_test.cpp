//===- local_state_test.cpp - nodes that save to folders of their own -----===//
//
// Threads take the place of processes of one rank each. The folder of node N is FOLDER/N.
//
//===----------------------------------------------------------------------===//

#include "state_program.h"

#include <barrier>
#include <filesystem>
#include <thread>

using namespace zero::rt;
namespace fs = std::filesystem;

namespace {

using Places = std::vector<int>; ///< the node of each rank

/// Weights, moments and counters as a stage stores them, all with bytes that depend on `version`.
StateProgram training(int ranks, int stage, char version = 0) {
  StateProgram made(ranks);
  made.add(proto::PARAMETER, proto::F32, stage == 3, {{"w", {4, 3}}, {"six", {6}}, {"b", {1}}});
  made.add(proto::OPTIMIZER, proto::F32, stage >= 1, {{"w.m", {4, 3}}, {"six.m", {6}}});
  made.tensor("w.m").set_of("w");
  made.tensor("six.m").set_of("six");
  made.addTiled(proto::PARAMETER, proto::F32, stage == 3, {"tiled", {2, 6, 5}}, 1, {4, 2});
  made.add(proto::BUFFER, proto::F32, false, {{"running_mean", {5}}});
  made.add(proto::OPTIMIZER, proto::I64, false, {{"count", {1}}});
  made.fill();
  for (std::string &arena : made.arenas)
    for (char &byte : arena)
      byte = char(byte ^ version);
  return made;
}

class LocalState : public CheckpointTest {
protected:
  std::string of(int node) const { return folder + "/" + std::to_string(node); }
  std::string generation(int node, uint64_t step) const {
    return of(node) + "/" + generationName(step);
  }

  /// Saves on all nodes. The process of node `dead` ends before its commit.
  void save(StateProgram &program, const Places &places, uint64_t step, int dead = -1) {
    const int count = *std::max_element(places.begin(), places.end()) + 1;
    SavingNodes nodes{places, {}, 0};
    for (int node = 0; node < count; ++node)
      nodes.hosts.push_back("host" + std::to_string(node));
    std::vector<std::unique_ptr<CheckpointWriter>> writers(static_cast<size_t>(count));
    proto::Manifest about;
    about.set_step(step);
    for (nodes.own = 0; nodes.own < count; ++nodes.own)
      ASSERT_TRUE(CheckpointWriter::create(program.program, of(nodes.own), about, nodes,
                                           writers[size_t(nodes.own)])
                      .ok());
    Meter meter;
    for (size_t rank = 0; rank < places.size(); ++rank) {
      CheckpointWriter &writer = *writers[size_t(places[rank])];
      EXPECT_DONE(writer.writeRank(int(rank), program.arena(rank), meter));
      for (auto &other : writers)
        other->file(int(rank)) = writer.file(int(rank));
    }
    commit(writers, dead);
  }

  static void commit(std::vector<std::unique_ptr<CheckpointWriter>> &writers, int dead) {
    std::string path;
    std::vector<std::string> remarks;
    for (auto &writer : writers)
      EXPECT_DONE(writer->prepare());
    for (size_t node = 0; node < writers.size(); ++node)
      if (int(node) != dead)
        EXPECT_DONE(writers[node]->commit(path));
    for (auto &writer : writers)
      if (dead < 0)
        EXPECT_DONE(writer->removeOthers({}, remarks));
    EXPECT_TRUE(remarks.empty());
  }

  /// Loads each rank from the folder of its node, on a thread. Returns what each rank finds.
  std::vector<Status> load(StateProgram &program, const Places &places) {
    const size_t ranks = places.size();
    std::vector<Status> found(ranks), told(ranks);
    std::vector<std::string> notes(ranks);
    std::barrier barrier{ptrdiff_t(ranks)};
    program.clear();
    passed.assign(ranks, {});
    auto run = [&](size_t rank) {
      const Gather gather = [&](const Status &own, const std::string &note,
                                std::vector<std::string> &all) -> Status {
        told[rank] = own, notes[rank] = note;
        barrier.arrive_and_wait();
        all = notes;
        Status first;
        for (const Status &each : told)
          if (first.ok())
            first = each;
        barrier.arrive_and_wait();
        return first;
      };
      found[rank] = loadRank(program, int(rank), of(places[rank]), gather);
    };
    {
      std::vector<std::jthread> threads;
      for (size_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back(run, rank);
    }
    return found;
  }

  Status loadRank(StateProgram &program, int rank, const std::string &path, const Gather &gather) {
    Meter meter;
    LoadPlan plan;
    std::shared_ptr<CheckpointReader> reader;
    auto verify = [&](const std::shared_ptr<CheckpointReader> &opened) {
      plan = {};
      ZERO_RT_TRY(planLoad(program.program, opened->manifest(), plan));
      return opened->verify(filesOf(plan, rank, 1), 0, 1, meter);
    };
    ZERO_RT_TRY(openNewest(path, gather, verify, reader, passed[size_t(rank)]));
    HostMemory memory(program.arenas[size_t(rank)].data());
    return reader->readRank(plan, rank, memory, meter);
  }

  void expectLoads(StateProgram &expected, StateProgram &program, const Places &places) {
    for (const Status &each : load(program, places))
      EXPECT_DONE(each);
    expectSame(program, expected);
  }

  static void expectSame(StateProgram &got, StateProgram &expected) {
    for (const proto::Tensor &tensor : expected.program.tensors())
      EXPECT_EQ(got.read(tensor.name()), expected.read(tensor.name())) << tensor.name();
  }

  void expectFails(const std::vector<Status> &found, const std::string &part) {
    for (const Status &each : found)
      EXPECT_REFUSED(each, part);
  }

  std::vector<std::vector<Damage>> passed; ///< by rank, of the last load
};

TEST_F(LocalState, EachNodeNeedsItsOwnFolderOnly) {
  for (int stage : {0, 1, 3})
    for (const Places &places : {Places{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}, {0, 1, 2}}) {
      SCOPED_TRACE(testing::Message() << "stage " << stage << testing::PrintToString(places));
      const int ranks = int(places.size());
      StateProgram saved = training(ranks, stage), other = training(ranks, stage, 1);
      save(saved, places, 7);
      expectLoads(saved, other, places);
      for (size_t rank = 0; rank < places.size(); ++rank)
        EXPECT_EQ(fs::exists(generation(0, 7) + "/" + shardName(int(rank))), places[rank] == 0);
      fs::remove_all(folder);
    }
}

/// The files of all nodes in one folder are an ordinary checkpoint, by the manifest of any node.
TEST_F(LocalState, AFolderOfAllFilesLoadsAnywhere) {
  StateProgram saved = training(4, 3);
  save(saved, {0, 0, 1, 1}, 7);
  for (int last : {0, 1}) {
    const std::string merged = folder + "/merged" + std::to_string(last);
    for (int node : {1 - last, last})
      fs::copy(of(node), merged,
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    for (int ranks : {1, 3, 4})
      for (int stage : {0, 3}) {
        StateProgram loaded = training(ranks, stage, 1);
        EXPECT_DONE(loaded.load(merged));
        expectSame(loaded, saved);
      }
  }
}

TEST_F(LocalState, WhatIsOnAnotherNodeIsNamed) {
  StateProgram saved = training(4, 3), loaded = training(4, 3), fewer = training(2, 3);
  save(saved, {0, 0, 1, 1}, 7);
  expectFails(load(loaded, {0, 0, 0, 0}),
              "no complete checkpoint in '" + of(0) + "': '" + generation(0, 7) +
                  "/rank-00002.safetensors': not on this node: it was saved on host 'host1'; copy");
  expectFails(load(loaded, {1, 1, 0, 0}),
              "/rank-00000.safetensors': not on this node: it was saved "
              "on host 'host0'");
  expectFails(load(fewer, {0, 0}), "it was saved on host 'host1'");
  for (const std::string &arena : loaded.arenas)
    EXPECT_EQ(arena, std::string(arena.size(), 0x55)); // nothing is changed
}

TEST_F(LocalState, TheNewestThatAllHaveCounts) {
  const Places places = {0, 0, 1, 1};
  StateProgram older = training(4, 3), newer = training(4, 3, 2), loaded = training(4, 3);
  EXPECT_EQ(load(loaded, places)[3].getCode(), ZERO_RT_NOT_FOUND);
  save(older, places, 5);
  save(newer, places, 6);
  fs::remove_all(generation(1, 6));
  expectLoads(older, loaded, places);
  for (size_t rank = 0; rank < places.size(); ++rank) {
    ASSERT_EQ(passed[rank].size(), 1u);
    EXPECT_EQ(passed[rank][0].path, generation(places[rank], 6));
    EXPECT_NE(passed[rank][0].what.find("/step-00000006' is missing on host '"), std::string::npos);
  }
  fs::remove_all(generation(0, 5));
  expectFails(load(loaded, places), "/step-00000005' is missing on host '");
  // All have none, so it is no error to begin.
  fs::remove_all(generation(0, 6));
  fs::remove_all(generation(1, 5));
  for (const Status &status : load(loaded, places))
    EXPECT_EQ(status.getCode(), ZERO_RT_NOT_FOUND);
}

TEST_F(LocalState, DamageOnOneNodeIsThatOfAll) {
  const Places places = {0, 0, 1, 1};
  StateProgram older = training(4, 3), newer = training(4, 3, 2), loaded = training(4, 3);
  save(older, places, 5);
  save(newer, places, 6);
  flip(generation(1, 6) + "/" + shardName(3), 300, 1);
  expectLoads(older, loaded, places);
  EXPECT_NE(passed[0][0].what.find("rank-00003.safetensors': wrong checksum"), std::string::npos);
}

/// A run that ends in the middle of a commit, resumes, and ends in the same way later.
TEST_F(LocalState, AnUnfinishedCommitLosesNothing) {
  const Places places = {0, 0, 1, 1};
  StateProgram loaded = training(4, 3);
  StateProgram first = training(4, 3, 1), second = training(4, 3, 2), third = training(4, 3, 3);
  save(first, places, 2);
  save(second, places, 3, /*dead=*/1);
  expectLoads(first, loaded, places);
  save(third, places, 4, /*dead=*/1);
  expectLoads(first, loaded, places);
  // Both have one of this step then, but not the same.
  save(third, places, 3, /*dead=*/0);
  expectLoads(first, loaded, places);
  EXPECT_NE(passed[0][1].what.find("is not of the same save as"), std::string::npos)
      << passed[0][1].what;
  save(third, places, 3);
  EXPECT_FALSE(fs::exists(generation(0, 4)));
  expectLoads(third, loaded, places);
}

} // namespace
