//===- mesh_program.h - a hand-written step on a mesh of ranks ------------===//
//
// loss = sum(x W) / 32 with x [4, 4] of all data ranks and W [4, 12], which is split by columns
// over the last axis of the mesh, in two parts. Stages 0, 1 and 3 of ZeRO over the other axes, as
// the compiler emits them. All numbers of a step are multiples of powers of two, so that sums are
// exact and equal on every mesh.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_MESH_PROGRAM_H
#define TEST_UNIT_RUNTIME_MESH_PROGRAM_H

#include "tiny_program.h"

struct MeshProgram : HandMadeProgram {
  /// `sizes`: of the axes; those before the last one divide the four rows of x.
  MeshProgram(const std::vector<int> &sizes, int stage);

  static constexpr uint64_t kRows = 4, kIn = 4, kOut = 12, kElements = kIn * kOut;

  int stage;
  uint64_t dataRanks = 1, tensorRanks = 1;
  uint64_t rows, columns; ///< of a rank
  uint64_t held, slice;   ///< elements of W that a rank holds when they are gathered; its slice
  struct {
    uint64_t shard, vector, random, count, scale, slope, rate, x, part, coordinate, y, dy, loss,
        localLoss, full, gradient, workspace = 0;
  } at;

private:
  void addMesh(const std::vector<int> &sizes);
  void addState();
  void addValues();
  void addMicroBatch();
  void addUpdate();
  void addVolumes();
  zero::rt::proto::Address sliceOf(uint64_t offset) const;
  template <typename Message>
  void addDataAxes(Message &message) const;
};

/// The file with the initial values of W, multiples of 1/8. Must be removed.
std::string meshWeightsFile();

#endif // TEST_UNIT_RUNTIME_MESH_PROGRAM_H
