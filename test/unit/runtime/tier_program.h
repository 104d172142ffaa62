//===- tier_program.h - a training step on all tiers ------------*- C++ -*-===//
//
// The tiny step with more state: `big` [ranks * kBig] += `part`, and the counter. On tiers, W
// and `big` lie on disk, `part` and the counter on the host; W is read and copied to the
// device in each micro-batch, and updated on the host.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_TIER_PROGRAM_H
#define TEST_UNIT_RUNTIME_TIER_PROGRAM_H

#include "tiny_program.h"

#include <gtest/gtest.h>
#include <string>

/// Elements of `big` on each rank: more than a block of the disk, and no multiple of it.
inline constexpr uint64_t kBig = 300007;

struct TierProgram : TinyProgram {
  TierProgram(int ranks, int microBatches, bool onTiers);

  /// Of the host's arena and of the disk's.
  struct {
    uint64_t w, big, part, gradient, count, end;
  } host{};
  struct {
    uint64_t w, big, end;
  } disk{};

private:
  void addState(bool onTiers);
  void addStepInMemory();
  void addStepOnTiers();
};

/// Gives each command waits for all before it, on other lanes, that touch its bytes, one of
/// them writing. The last of each lane suffices.
void orderByBytes(zero::rt::proto::Program &program);

/// A folder that goes with this object.
struct TemporaryFolder {
  explicit TemporaryFolder(const std::string &parent = testing::TempDir());
  ~TemporaryFolder();
  bool isEmpty() const;
  std::string path;
};

#endif // TEST_UNIT_RUNTIME_TIER_PROGRAM_H
