//===- generations.h - the checkpoints in a folder --------------*- C++ -*-===//
//
//   DIR/step-00000100/              a generation: whole, or damaged later
//   DIR/.step-00000200.tmp-4711/    one that process 4711 writes or removes
//
// A generation appears by a rename once all of it is on disk, so whatever happens to a
// process leaves those that there were.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_GENERATIONS_H
#define RUNTIME_CHECKPOINT_GENERATIONS_H

#include "runtime/support/status.h"

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

/// Fails when `folder` holds a generation of a later step than `step`, which would be
/// taken for newer than what is saved there now. Those in `damaged` do not count.
Status checkNoneLater(const std::string &folder, uint64_t step,
                      const std::vector<std::string> &damaged);

/// Where process `owner` writes the generation of `step` in `folder`.
std::string draftPath(const std::string &folder, uint64_t step, int64_t owner);

/// A generation that is being written. Removed when abandoned.
class Draft {
public:
  Draft() = default;
  Draft(Draft &&other) noexcept;
  ~Draft();

  /// Makes `folder` if need be and a temporary in it, and removes what dead processes
  /// left there.
  static Status create(const std::string &folder, uint64_t step, Draft &draft);
  /// Where to write its files.
  const std::string &path() const { return temporary; }
  /// Gives it its name, in place of one that has it, then removes all generations but it
  /// and the last ones before it. `made`: where it is now.
  Status commit(std::string &made);

private:
  std::string folder, temporary;
  uint64_t step = 0;
};

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_GENERATIONS_H
