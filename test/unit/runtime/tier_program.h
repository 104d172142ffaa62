//===- tier_program.h - a training step on all tiers ------------*- C++ -*-===//
//
// The tiny step with more state: `big` [ranks * kBig] += `part`, and the counter. With tiers, W and
// `big` reside on disk, and `part` and the counter on the host. W is read and copied to the device
// in each micro-batch, and updated on the host, which gets the learning rate, too.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_TIER_PROGRAM_H
#define TEST_UNIT_RUNTIME_TIER_PROGRAM_H

#include "tiny_program.h"

#include <gtest/gtest.h>
#include <string>

/// Elements of `big` on each rank: more than a disk block, and not a multiple of one.
inline constexpr uint64_t kBig = 300007;

struct TierProgram : TinyProgram {
  TierProgram(int ranks, int microBatches, bool onTiers);

  /// Offsets in the host's and the disk's arena.
  struct {
    uint64_t w, big, part, gradient, count, lr, end;
  } host{};
  struct {
    uint64_t w, big, end;
  } disk{};

private:
  void addState(bool onTiers);
  void addStepInMemory();
  void addStepOnTiers();
};

/// Makes each command wait for all earlier commands on other lanes that access its bytes, if one of
/// the two writes. The last such command of each lane suffices.
void orderByBytes(zero::rt::proto::Program &program);

/// A folder that is removed with this object.
struct TemporaryFolder {
  explicit TemporaryFolder(const std::string &parent = testing::TempDir());
  ~TemporaryFolder();
  bool isEmpty() const;
  std::string path;
};

#endif // TEST_UNIT_RUNTIME_TIER_PROGRAM_H
