//===- checkpoint_search.h - find the newest checkpoint ---------*- C++ -*-===//

#ifndef RUNTIME_SESSION_CHECKPOINT_SEARCH_H
#define RUNTIME_SESSION_CHECKPOINT_SEARCH_H

#include "runtime/checkpoint/reader.h"

#include <functional>

namespace zero::rt {

/// A generation that was passed over, and why.
struct Damage {
  std::string path, what;
};

/// Tells all processes `note`, and returns the notes of all, by process. Fails on all if `own` is
/// an error on one. Collective.
using Gather = std::function<Status(const Status &own, const std::string &note,
                                    std::vector<std::string> &all)>;
/// That of a single process.
Status gatherNone(const Status &own, const std::string &note, std::vector<std::string> &all);

using Verify = std::function<Status(const std::shared_ptr<CheckpointReader> &)>;

/// Opens the newest generation that `path` denotes on all processes, and that is intact for all by
/// what each one's `verify` checks. `path` may be another folder on each node: a generation counts
/// if all folders have it, of the same save. `passed` are the later ones. If no process has a
/// generation, the error is ZERO_RT_NOT_FOUND. Collective.
Status openNewest(const std::string &path, const Gather &gather, const Verify &verify,
                  std::shared_ptr<CheckpointReader> &reader, std::vector<Damage> &passed);

} // namespace zero::rt

#endif // RUNTIME_SESSION_CHECKPOINT_SEARCH_H
