//===- state_program.h - a program that has only state ----------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_STATE_PROGRAM_H
#define TEST_UNIT_RUNTIME_STATE_PROGRAM_H

#include "parts.h"

#include "runtime/checkpoint/writer.h"
#include "runtime/session/checkpoint_search.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

/// Tables that a test creates, and the ranks' arenas in memory.
class StateProgram {
public:
  explicit StateProgram(int ranks) { zero::rt::setRanks(program, ranks); }
  /// On a mesh with axes of these sizes.
  explicit StateProgram(const std::vector<int> &sizes);

  struct Member {
    std::string name;
    std::vector<uint64_t> shape;
  };
  /// Adds a bucket. Each member begins `gap` elements after the previous one.
  void add(zero::rt::proto::Role role, zero::rt::proto::DType dtype, bool sharded,
           const std::vector<Member> &members, uint64_t gap = 0);
  /// Adds a tensor in tiles of `extents` along `axis`, each in a separate bucket.
  void addTiled(zero::rt::proto::Role role, zero::rt::proto::DType dtype, bool sharded,
                Member member, uint32_t axis, const std::vector<uint64_t> &extents);
  /// Adds a bucket of one tensor that is split over `splitAxes` along `dimension`, by `parts` if
  /// there are any, and whose slices are cut over `shardAxes`. With `tiles`, it has a bucket for
  /// each.
  struct Division {
    uint32_t dimension = 0;
    std::vector<uint32_t> splitAxes, shardAxes;
    std::vector<uint64_t> parts, tiles;
    uint32_t tileAxis = 0;
  };
  void addDivided(zero::rt::proto::DType dtype, Member member, const Division &division);
  zero::rt::proto::Tensor &tensor(const std::string &name);

  /// Creates the arenas. Each byte of a tensor depends on its name and position.
  void fill();
  /// Creates the arenas and sets every byte to `byte`.
  void clear(char byte = 0x55);
  /// Returns all bytes of a tensor. Replicas must be equal.
  std::string read(const std::string &name);
  void write(const std::string &name, const std::string &bytes);

  /// Writes a checkpoint of all ranks.
  zero::rt::Status save(const std::string &folder, uint64_t step);
  /// Resumes all ranks from `path`, one rank at a time.
  zero::rt::Status load(const std::string &path);

  /// The arena of `rank` as the runtime sees it.
  zero::rt::Memory &arena(size_t rank) {
    return memories.insert_or_assign(rank, zero::rt::HostMemory(arenas[rank].data())).first->second;
  }

  zero::rt::proto::Program program;
  std::vector<std::string> arenas;
  std::vector<std::string> remarks;      ///< of the last load
  std::vector<zero::rt::Damage> damaged; ///< the same
  std::string generation;                ///< the same

private:
  void addBuffer(zero::rt::proto::DType dtype, bool sharded, uint64_t elements);

  std::map<size_t, zero::rt::HostMemory> memories;
  uint64_t arenaBytes = 0;
};

/// Provides a separate folder for each test.
class CheckpointTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;
  std::string folder;

  static std::string contents(const std::string &path);
  static void replace(const std::string &path, const std::string &bytes);
  /// Flips bits of a byte of a file.
  static void flip(const std::string &path, size_t at, char bits);
  std::vector<std::string> names() const; ///< in the folder, sorted
};

#define EXPECT_DONE(call)                                                                          \
  do {                                                                                             \
    zero::rt::Status status = (call);                                                              \
    EXPECT_TRUE(status.ok()) << status.getMessage();                                               \
  } while (false)

#define EXPECT_REFUSED(call, part)                                                                 \
  do {                                                                                             \
    zero::rt::Status status = (call);                                                              \
    EXPECT_FALSE(status.ok());                                                                     \
    EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();           \
  } while (false)

#endif // TEST_UNIT_RUNTIME_STATE_PROGRAM_H
