//===- writer.h - write a checkpoint ----------------------------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_WRITER_H
#define RUNTIME_CHECKPOINT_WRITER_H

#include "runtime/checkpoint/generations.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/state_table.h"
#include "runtime/format/tiers.h"
#include "runtime/support/meter.h"

#include <atomic>
#include <functional>
#include <memory>

namespace zero::rt {

/// The nodes that save the parts of their ranks to folders of their own. None: all ranks save to
/// one folder.
struct SavingNodes {
  std::vector<int> ofRank;
  std::vector<std::string> hosts; ///< by node
  int own = 0;

  /// The node from whose ranks this node takes what `rank` holds of `block`: itself if it has a
  /// copy, else that of the first copy.
  int nearestCopy(const Block &block, int rank) const;
};

/// Host memory for what one rank saves, kept from one checkpoint to the next.
class StateCopy {
public:
  void reserve(uint64_t size);
  char *data() const { return bytes.get(); }

private:
  std::unique_ptr<char[]> bytes;
  uint64_t capacity = 0;
};

/// One generation: planned for all ranks, written by each, committed once all have. With nodes that
/// have folders of their own, there is one in each: its manifest lists the files of all ranks, and
/// takes replicated tensors from the files of its own node. So ranks of this node need no others,
/// and a folder with the files of all nodes is a checkpoint with the manifest of any of them.
class CheckpointWriter {
public:
  /// Creates the folder and the temporary. `about` contains the fields that are not tensors: the
  /// step and the data. `program` must have passed validate() and outlive the writer.
  static Status create(const proto::Program &program, const std::string &folder,
                       proto::Manifest about, const SavingNodes &nodes,
                       std::unique_ptr<CheckpointWriter> &writer);

  /// Opens the same generation in the process of another rank: writes into `path`, the draft that
  /// create() has made there, and does not commit.
  static Status join(const proto::Program &program, const std::string &path, proto::Manifest about,
                     const SavingNodes &nodes, std::unique_ptr<CheckpointWriter> &writer);

  /// Writes the part of `rank` from its memory and flushes it to disk. Different ranks may run
  /// concurrently. After a failure the others stop soon.
  Status writeRank(int rank, const MemoryByTier &memory, Meter &meter);

  /// Copies the part of `rank`, which its memory may lose before the next call writes it.
  Status copyRank(int rank, const MemoryByTier &memory, StateCopy &copy) const;
  Status writeRank(int rank, const StateCopy &copy, Meter &meter);
  /// Lets ranks that write stop soon.
  void stop() { failed = true; }

  /// The manifest entry of the file that `rank` has written.
  proto::Manifest::File &file(int rank) { return *manifest.mutable_files(rank); }

  /// Leaves the entries of ranks that this process has written, `count` from `first` on, in the
  /// draft for the process that commits it. That one waits for those of all ranks, until stop().
  Status leaveEntries(int first, int count);
  Status awaitEntries();

  /// The location of the draft for other processes, for join().
  uint64_t token() const { return draft.token(); }

  /// Writes the manifest, once all entries are known.
  Status prepare() { return writeManifest(folder + "/" + kManifestName, manifest); }
  /// Gives the generation its name. `path`: where it is.
  Status commit(std::string &path) { return draft.commit(path); }
  /// As of Draft.
  Status removeOthers(const std::vector<std::string> &damaged, std::vector<std::string> &remarks) {
    return draft.removeOthers(damaged, remarks);
  }

private:
  Status plan(const proto::Program &program, proto::Manifest about, const SavingNodes &nodes);
  /// Hands the bytes of a piece to `use`.
  using Read = std::function<Status(const Piece &, const Memory::Piece &use)>;
  Status readPiece(const MemoryByTier &memory, const Piece &piece, const Memory::Piece &use) const;
  Status writeRank(int rank, const Read &read, Meter &meter);
  Status writeShard(int rank, const Read &read, Meter &meter);
  uint64_t bytesOf(const Piece &piece) const;
  std::string entryPath(int rank) const;
  Status takeEntry(int rank, bool &isThere);
  const Block &blockOf(const Piece &piece) const;
  std::string headerOf(int rank) const;
  void setBlocks(const proto::Tensor::Blocks &from, proto::Manifest::Tensor &tensor);
  void listTensors(const SavingNodes &nodes);

  proto::Manifest manifest;
  std::vector<StateTensor> state;
  std::vector<std::vector<Piece>> pieces; ///< by rank
  Draft draft;                            ///< unless another process has it
  std::string folder;                     ///< of the draft
  std::atomic<bool> failed{false};
};

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_WRITER_H
