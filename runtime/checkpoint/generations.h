//===- generations.h - the checkpoints in a folder --------------*- C++ -*-===//
//
//   DIR/step-00000100/              a generation, complete or damaged later
//   DIR/.step-00000200.tmp-0123456789abcdef/    a folder that a process writes or removes
//   DIR/.lock                       exists while a process saves here
//
// A generation appears by a rename once all of it is on disk, so a process that ends early does not
// affect the existing generations.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_GENERATIONS_H
#define RUNTIME_CHECKPOINT_GENERATIONS_H

#include "runtime/checkpoint/folder_lock.h"

#include <cstdint>
#include <vector>

namespace zero::rt {

struct Generation {
  uint64_t step = 0;
  std::string path;
};

/// How many generations stay.
inline constexpr size_t kGenerations = 2;

/// "step-00000100".
std::string generationName(uint64_t step);
/// The step in the last part of `path`; false when that is no generation's name.
bool parseGenerationName(const std::string &path, uint64_t &step);

/// The generations in `folder`, newest first; none when there is no such folder.
Status listGenerations(const std::string &folder, std::vector<Generation> &generations);

/// The generations that `path` means, newest first: itself if it is one or is called like
/// one, else those in it. ZERO_RT_NOT_FOUND when there are none.
Status findGenerations(const std::string &path, std::vector<Generation> &generations);

/// Fails if `folder` contains a generation of a later step than `step`, which would be mistaken for
/// a newer one than the generation that is being saved. Generations in `damaged` do not count.
Status checkNoneLater(const std::string &folder, uint64_t step,
                      const std::vector<std::string> &damaged);

/// The path to which the owner of `token` writes the generation of `step` in `folder`.
std::string draftPath(const std::string &folder, uint64_t step, uint64_t token);

/// Removes what ended processes were writing in `folder`, unless another process saves there.
void sweepDrafts(const std::string &folder);

/// A generation that is being written. Removed when abandoned.
class Draft {
public:
  /// Creates `folder` if necessary, prevents other processes from saving there, removes files of
  /// ended processes, and creates a temporary.
  static Status create(const std::string &folder, uint64_t step, Draft &draft);
  /// The path for its files, which OutputFile::createInTemporary() creates.
  const std::string &path() const { return temporary.path(); }
  /// Tells path(), with folder and step.
  uint64_t token() const { return temporary.token(); }
  /// Flushes its entries to disk and renames it to its name, replacing a generation with this name.
  /// `made`: its path.
  Status commit(std::string &made);
  /// After commit(): removes all generations except this one and the latest ones before it that are
  /// not `damaged`. `remarks`: the files that could not be removed, which the next draft tries
  /// again.
  Status removeOthers(const std::vector<std::string> &damaged,
                      std::vector<std::string> &remarks) const;

private:
  std::shared_ptr<FolderLock> lock;
  std::string folder;
  uint64_t step = 0;
  OwnedFolder temporary; ///< goes before the lock does
};

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_GENERATIONS_H
