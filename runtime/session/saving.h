//===- saving.h - a checkpoint from its draft to its name -------*- C++ -*-===//

#ifndef RUNTIME_SESSION_SAVING_H
#define RUNTIME_SESSION_SAVING_H

#include "runtime/checkpoint/writer.h"
#include "runtime/session/ranks.h"
#include "runtime/support/background.h"

namespace zero::rt {

/// What follows the draft of a checkpoint, in stages: files, manifest, name, removal of older ones.
/// Each process does its part of a stage on its own. If nodes have folders of their own, the next
/// stage begins once all have agreed that they are done, so that all folders have a complete
/// generation in common at any time. A folder of all needs no agreement: processes leave in the
/// draft what they have written, and the one that made it does the rest.
class Saving {
public:
  /// `isMaker`: this process made the draft. `isShared`: it is that of all processes. `damaged`:
  /// generations that do not count as older ones to keep.
  Saving(Ranks &ranks, std::shared_ptr<CheckpointWriter> writer, bool isMaker, bool isShared,
         std::vector<std::string> damaged)
      : ranks(ranks), writer(std::move(writer)), isMaker(isMaker), isShared(isShared),
        damaged(std::move(damaged)) {}
  /// Abandons what is not complete.
  ~Saving();

  /// Goes through all stages at once. `writeFiles` writes those of the ranks of this process.
  Status run(const std::function<Status()> &writeFiles);
  /// Begins with the files in the background. They must not need the memory of the ranks.
  Status start(std::function<Status()> writeFiles);
  /// Collective, between steps: goes on to the next stage if all processes have done theirs.
  /// `waits`: goes through all stages.
  Status advance(bool waits);
  bool isComplete() const { return stage == kStages; }

  /// Of the generation; empty in processes that have not made it.
  const std::string &getPath() const { return path; }
  /// What could not be removed, by process.
  const std::vector<std::string> &getNotes() const { return notes; }

private:
  static constexpr int kFiles = 0, kManifest = 1, kName = 2, kOthers = 3, kStages = 4;

  Status work(int which);
  Status workAlone(const std::function<Status()> &writeFiles);
  std::string note() const;
  Status agree(bool isDone, const Status &own, bool &allDone);
  Status decodeFiles(const std::string &text, int firstRank);

  Ranks &ranks;
  std::shared_ptr<CheckpointWriter> writer;
  const bool isMaker, isShared;
  const std::vector<std::string> damaged;
  int stage = kFiles;
  std::string path;
  std::vector<std::string> left, notes;
  Background background; ///< ends before what it uses does
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_SAVING_H
