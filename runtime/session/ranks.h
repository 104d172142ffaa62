//===- ranks.h - a session's ranks in this process --------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_RANKS_H
#define RUNTIME_SESSION_RANKS_H

#include "runtime/execute/rank.h"
#include "runtime/execute/team.h"
#include "runtime/processes/world.h"

namespace zero::rt {

/// Whether the numbers in `options` can be served.
Status checkOptions(const zero_rt_session_options &options);

/// The ranks of `program` that this process has.
TeamOptions teamOf(const proto::Program &program, const zero_rt_session_options &options);

/// The ranks of a program in this process, each with its thread, and the other processes, if there
/// are any. A failure that leaves ranks in different states ends the session; it can then only be
/// queried.
class Ranks {
public:
  /// Shared with the ranks' threads: one that never comes back keeps it alive.
  struct Body {
    explicit Body(const zero_rt_session_options &options)
        : meter(options.progress, options.progress_context) {}
    ~Body() {
      for (const auto &rank : ranks) // one may still read another's memory
        rank->settle();
      for (const auto &rank : ranks)
        rank->leave();
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
  ~Ranks();

  const LoadedProgram &program() const { return *body->program; }
  const zero_rt_session_options &getOptions() const { return options; }
  Device &getDevice() const { return *body->device; }
  /// Whether a checkpoint that is loaded says which algorithms products run on GPUs.
  bool takesAlgorithms() const { return hasAutomaticAlgorithms; }
  Meter &meter() const { return body->meter; }
  /// Those that are here, by number.
  const std::vector<std::unique_ptr<Rank>> &here() const { return body->ranks; }
  bool has(int number) const;
  /// Finds rank `number`; fails where there is none, or it is in another process.
  Status find(int number, Rank *&rank) const;

  /// Whether there are ranks in other processes, which getWorld() knows.
  bool isOneOfMany() const { return world != nullptr; }
  World &getWorld() const { return *world; }
  /// Whether this process does what only one does, and gets what there is of all.
  bool isFirst() const { return !world || world->isFirst(); }
  int processOf(int rank) const { return rank / int(here().size()); }

  Status checkAlive() const;

  /// Runs `job` on every rank's thread.
  Status run(const Job &job);
  /// The same between steps. A thread that does not return ends the session.
  Status runBetweenSteps(const Job &job);
  /// Ends the session, and returns why: `status`, or what failed before it in another process and
  /// `where` this one was.
  Status end(Status status, const std::string &where = {});
  /// Tells all processes how `own` went, with `note`. Returns the notes of all, by process. Fails
  /// unless it went well on all; the session goes on. With one process: `own`, and its note.
  Status agree(const char *what, const Status &own, const std::string &note,
               std::vector<std::string> &all);
  Status agree(const char *what, const Status &own);

private:
  Ranks(std::shared_ptr<Body> body, const zero_rt_session_options &options);
  Status prepare();
  Status checkSameProgram();
  void listen();
  Status explain(const Status &status) const;
  std::string nameOf(size_t process) const;

  std::shared_ptr<Body> body;
  zero_rt_session_options options;
  bool hasAutomaticAlgorithms;
  std::shared_ptr<World> world; ///< null: all ranks are here
  Team team;
  Status failure; ///< that ended this session
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_RANKS_H
