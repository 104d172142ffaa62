//===- reader.h - read a checkpoint -----------------------------*- C++ -*-===//

#ifndef RUNTIME_CHECKPOINT_READER_H
#define RUNTIME_CHECKPOINT_READER_H

#include "runtime/checkpoint/generations.h"
#include "runtime/checkpoint/load_plan.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/format/tiers.h"
#include "runtime/support/meter.h"

#include <atomic>
#include <memory>

namespace zero::rt {

/// One generation with open files, so that the checked files are the ones that are read.
class CheckpointReader {
public:
  /// Reads the manifest; checks that all files are there, as long as they were. Those of other
  /// nodes may be missing.
  static Status open(const Generation &generation, std::shared_ptr<CheckpointReader> &reader);

  const std::string &path() const { return generation.path; }
  const proto::Manifest &manifest() const { return contents; }

  /// Checks that each of `needed`, by its index, is there with its checksum. Takes every `parts`-th
  /// from number `part` on. Different parts may run concurrently. After a failure the others stop
  /// soon.
  Status verify(const std::vector<uint32_t> &needed, int part, int parts, Meter &meter);

  /// Reads the state of `rank` into its memory. Different ranks may run concurrently.
  Status readRank(const LoadPlan &plan, int rank, const MemoryByTier &memory, Meter &meter) const;

private:
  Status openFiles();
  Status openFile(const proto::Manifest::File &listed, InputFile &file, uint64_t &header);
  Status checkRanges() const;
  Status verifyFile(uint32_t index, Meter &meter);
  Status read(const RangeRead &range, const MemoryByTier &memory, std::vector<char> &space) const;
  Status readRuns(const std::vector<SavedRun> &runs, uint64_t size, uint64_t begin, uint64_t count,
                  char *target) const;
  Status readElements(const LoadPlan &plan, const SavedSource &source, uint64_t begin,
                      uint64_t count, std::vector<float> &elements) const;
  Status convert(const LoadPlan &plan, const RangeConvert &range, const MemoryByTier &memory) const;

  struct File {
    InputFile file;
    uint64_t data = 0; ///< bytes of its header; 0: the file is on another node
  };
  Generation generation;
  proto::Manifest contents;
  std::vector<File> files; ///< as in the manifest
  std::atomic<bool> failed{false};
};

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_READER_H
