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

/// One generation, its files open: what was checked is what is read.
class CheckpointReader {
public:
  /// Reads the manifest; checks that all files are there, as long as they were.
  static Status open(const Generation &generation, std::shared_ptr<CheckpointReader> &reader);

  const std::string &path() const { return generation.path; }
  const proto::Manifest &manifest() const { return contents; }

  /// Checks the checksum of each file whose index is `part` modulo `parts`. Safe for
  /// different parts at a time; after a failure the others give up soon.
  Status verify(int part, int parts, Meter &meter);

  /// Reads what `rank` needs into its memory. Safe for different ranks at a time.
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

/// A generation that is not what it was, and what is wrong with it.
struct Damage {
  std::string path, what;
};

/// Opens the newest whole generation that `path` means, and all that `verify` checks of
/// it; `damaged` are those that were tried before. None at all is ZERO_RT_NOT_FOUND.
Status openNewest(const std::string &path,
                  const std::function<Status(std::shared_ptr<CheckpointReader>)> &verify,
                  std::shared_ptr<CheckpointReader> &reader, std::vector<Damage> &damaged);

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_READER_H
