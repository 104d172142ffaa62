//===- team.h - one thread per rank -----------------------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_TEAM_H
#define RUNTIME_EXECUTE_TEAM_H

#include "runtime/support/status.h"

#include <functional>
#include <memory>
#include <vector>

namespace zero::rt {

struct TeamOptions {
  int firstRank = 0, ranks = 1;  ///< whose threads are here
  int neighbours = 1, place = 0; ///< ranks of this node, and the place of the first one among them
  int threadsPerRank = 1;
  int pin = -1; ///< 1 yes, if there are enough cores; 0 no; -1 when the ranks fill the machine
  /// For all ranks of a program.
  static TeamOptions ofAll(int ranks, int threadsPerRank, int pin) {
    TeamOptions options;
    options.ranks = options.neighbours = ranks;
    options.threadsPerRank = threadsPerRank;
    options.pin = pin;
    return options;
  }
  /// How long the others may take to come back once one rank has failed.
  double graceSeconds = 5;
};

/// Threads that live as long as the session, one for each rank of this process: library thread
/// pools, flush-to-zero and caches stay with them.
class Team {
public:
  explicit Team(const TeamOptions &options);
  ~Team();

  /// Runs job(rank) on every rank's thread and waits. Of several failures that of the lowest rank
  /// is returned, causes before their consequences (ZERO_RT_ABORTED). If a thread cannot be started
  /// that is the failure, and nothing runs. If a rank does not return after another failed, the
  /// error names it, and the team cannot be used: run() must not be called again, and its threads
  /// are abandoned with the resources of `job`.
  Status run(std::function<Status(int)> job);
  bool isLost() const { return lost; }

private:
  struct Shared;
  Status collect(bool complete) const;
  TeamOptions options;
  std::shared_ptr<Shared> shared;
  Status started; ///< whether all threads could be
  bool lost = false;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_TEAM_H
