//===- writer.h - write a checkpoint ----------------------------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_WRITER_H
#define RUNTIME_CHECKPOINT_WRITER_H

#include "runtime/checkpoint/generations.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/state_table.h"
#include "runtime/format/tiers.h"
#include "runtime/support/meter.h"

#include <atomic>
#include <memory>

namespace zero::rt {

/// One generation: planned for all ranks, written by each, committed once all have.
class CheckpointWriter {
public:
  /// Creates the folder and the temporary. `about` contains the fields that are not tensors: the
  /// step and the data. `program` must have passed validate() and outlive the writer.
  static Status create(const proto::Program &program, const std::string &folder,
                       proto::Manifest about, std::unique_ptr<CheckpointWriter> &writer);

  /// Opens the same generation in the process of another rank: writes into `path`, the draft that
  /// create() has made there, and does not commit.
  static Status join(const proto::Program &program, const std::string &path, proto::Manifest about,
                     std::unique_ptr<CheckpointWriter> &writer);

  /// Writes the part of `rank` from its memory and flushes it to disk. Different ranks may run
  /// concurrently. After a failure the others stop soon.
  Status writeRank(int rank, const MemoryByTier &memory, Meter &meter);

  /// The manifest entry of the file that `rank` has written.
  proto::Manifest::File &file(int rank) { return *manifest.mutable_files(rank); }

  /// The location of the draft for other processes, for join().
  uint64_t token() const { return draft.token(); }

  /// Writes the manifest and gives the generation its name. `path`: where it is. `remarks`: as
  /// of Draft::commit().
  Status commit(std::string &path, std::vector<std::string> &remarks);

private:
  Status plan(const proto::Program &program, proto::Manifest about);
  Status writeShard(int rank, const MemoryByTier &memory, Meter &meter);
  const Block &blockOf(const Piece &piece) const;
  std::string headerOf(int rank) const;
  void listTensors();

  proto::Manifest manifest;
  std::vector<StateTensor> state;
  std::vector<std::vector<Piece>> pieces; ///< by rank
  Draft draft;                            ///< unless another process has it
  std::string folder;                     ///< of the draft
  std::atomic<bool> failed{false};
};

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_WRITER_H
