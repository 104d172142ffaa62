//===- reader.h - read a checkpoint -----------------------------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_READER_H
#define RUNTIME_CHECKPOINT_READER_H

#include "runtime/checkpoint/generations.h"
#include "runtime/checkpoint/load_plan.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/format/tiers.h"
#include "runtime/support/meter.h"

#include <atomic>
#include <functional>
#include <memory>

namespace zero::rt {

/// One generation with open files, so that the checked files are the ones that are read.
class CheckpointReader {
public:
  /// Reads the manifest; checks that all files are there, as long as they were.
  static Status open(const Generation &generation, std::shared_ptr<CheckpointReader> &reader);

  const std::string &path() const { return generation.path; }
  const proto::Manifest &manifest() const { return contents; }

  /// Checks the checksum of each file whose index is `part` modulo `parts`. Different parts may run
  /// concurrently. After a failure the others stop soon.
  Status verify(int part, int parts, Meter &meter);

  /// Reads the state of `rank` into its memory. Different ranks may run concurrently.
  Status readRank(const LoadPlan &plan, int rank, const MemoryByTier &memory, Meter &meter) const;

private:
  Status openFiles();
  Status verifyFile(size_t index, Meter &meter);
  Status read(const RangeRead &range, const MemoryByTier &memory, std::vector<char> &space) const;

  struct File {
    InputFile file;
    uint64_t data = 0; ///< bytes of its header
  };
  Generation generation;
  proto::Manifest contents;
  std::vector<File> files; ///< as in the manifest
  std::atomic<bool> failed{false};
};

/// A damaged generation, and its damage.
struct Damage {
  std::string path, what;
};

/// Opens the newest intact generation that `path` denotes, checking everything that `verify`
/// checks. `damaged` are the generations that were tried before it. Without any generation the
/// error is ZERO_RT_NOT_FOUND.
Status openNewest(const std::string &path,
                  const std::function<Status(std::shared_ptr<CheckpointReader>)> &verify,
                  std::shared_ptr<CheckpointReader> &reader, std::vector<Damage> &damaged);

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_READER_H
