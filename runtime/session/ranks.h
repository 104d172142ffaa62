//===- ranks.h - a session's ranks in this process --------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_RANKS_H
#define RUNTIME_SESSION_RANKS_H

#include "runtime/execute/rank.h"
#include "runtime/execute/team.h"

namespace zero::rt {

/// Whether the numbers in `options` can be served.
Status checkOptions(const zero_rt_session_options &options);

/// The ranks of a program in this process, all or one, each with its thread. If the others are in
/// other processes it also exchanges messages with them. A failure that leaves ranks in different
/// states ends the session; it can then only be queried.
class Ranks {
public:
  /// Shared with the ranks' threads: one that never comes back keeps it alive.
  struct Body {
    explicit Body(const zero_rt_session_options &options)
        : meter(options.progress, options.progress_context) {}
    ~Body() {
      for (const auto &rank : ranks) // one may still read another's memory
        rank->settle();
    }
    std::shared_ptr<const LoadedProgram> program;
    std::unique_ptr<Device> device;
    InitialFiles files;
    std::vector<std::unique_ptr<Rank>> ranks;
    Rank &rank(int number) { return *ranks[size_t(number - ranks.front()->number())]; }
    Meter meter;
  };
  using Job = std::function<Status(Body &, int rank)>;

  /// Reserves all memory, reads initial values and starts the threads.
  static Status create(const std::shared_ptr<const LoadedProgram> &program,
                       const zero_rt_session_options &options, std::unique_ptr<Ranks> &ranks);

  const LoadedProgram &program() const { return *body->program; }
  const zero_rt_session_options &getOptions() const { return options; }
  Meter &meter() const { return body->meter; }
  /// Those that are here, by number.
  const std::vector<std::unique_ptr<Rank>> &here() const { return body->ranks; }
  /// Finds rank `number`; fails where there is none, or it is in another process.
  Status find(int number, Rank *&rank) const;
  /// Whether the other ranks are in other processes.
  bool isOneOfMany() const { return options.rank >= 0; }

  Status checkAlive() const;
  /// Checks that all ranks are in this process, as operations on all ranks' memory need; `what`
  /// names the operation.
  Status checkHasAll(const char *what) const;

  /// Runs `job` on every rank's thread.
  Status run(const Job &job);
  /// The same between steps. A thread that does not return ends the session.
  Status runBetweenSteps(const Job &job);
  /// Ends the session, and returns `status`, which is why.
  Status end(Status status);
  /// Tells all ranks `own`. A failure ends the session.
  Status exchange(const Note &own, std::vector<Note> &all);
  /// Tells all ranks how `own` went, with `note`. Fails unless it went well on all.
  Status agree(const Status &own, Note note, std::vector<Note> &all);

private:
  Ranks(std::shared_ptr<Body> body, const zero_rt_session_options &options);
  Status checkSameProgram();

  std::shared_ptr<Body> body;
  zero_rt_session_options options;
  Team team;
  Status failure; ///< that ended this session
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_RANKS_H
