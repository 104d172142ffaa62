//===- job.h - the processes of a run ---------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_JOB_H
#define TOOLS_ZERO_RUN_JOB_H

#include "handles.h"
#include "options.h"

#include <chrono>

namespace zero::run {

/// This process and the others of its run, where a launcher has started several.
class Job {
public:
  Job() = default;
  Job(const Job &) = delete;
  /// Leaves the others. The process must end soon after.
  ~Job();

  /// Finds out from the options or the launcher's variables whether there are others. Does not meet
  /// them yet.
  rt::Status find(const Options &options);
  int processes() const { return count; }
  /// Those on the machine of this one.
  int processesOfNode() const;
  /// How often the launcher has started the processes before.
  int attempt() const { return attempts; }
  bool isOneOfMany() const { return count > 1; }
  /// Whether this process prints and writes for all.
  bool isFirst() const { return process == 0; }
  /// Whether this process makes the folder of --save-state: process 0, or the first of its node.
  bool makesFolder(const Options &options) const;

  /// The GPU of this process's rank, unless the command line says it; empty: the default.
  std::string gpu() const {
    return isOneOfMany() && localProcess >= 0 ? std::to_string(localProcess) : std::string();
  }

  /// Meets the others, and leaves to process 0 what only one does. `ranks`: of the program; 0: not
  /// known yet.
  rt::Status open(Options &options, int ranks);
  zero_rt_world *getWorld() const { return world.get(); }

  /// Fails on all processes if `own` is an error on one of them.
  rt::Status agree(const rt::Status &own) const;
  /// Process 0 calls this often while it does what may take longer than the timeout.
  rt::Status sayBusy() const;
  /// Waits until process 0, which calls this with `own`, is no longer busy.
  rt::Status awaitFirst(const rt::Status &own) const;
  /// Tells the others that this process cannot go on.
  void fail(const rt::Status &reason) const;
  /// Hands the file at `path` of process 0 to all; `path`: where it is for this one.
  rt::Status share(std::string &path) const;

  /// Whether any process says `own`.
  rt::Status any(const Session &session, bool own, bool &found) const;
  /// Whether a signal asks to stop after the step in progress, as all processes decide alike.
  rt::Status shallStop(const Session &session, bool &stops) const;
  /// The texts of all processes, by process. Of a job.
  rt::Status gatherTexts(const char *what, std::string_view own,
                         std::vector<std::string> &all) const;
  /// "process 2 on host 'a'"
  std::string nameOf(int process) const;
  /// Adds up what each process counts.
  rt::Status sum(const char *what, uint64_t &count) const;
  /// Resident bytes that the library of MPI has taken, by process; empty without it.
  rt::Status mpiBytes(std::vector<uint64_t> &bytes) const;
  /// The signal that has ended the run in order, the same on all processes.
  int interruption() const;

  /// Runs `body` in process 0, while the others answer what it reads of their ranks.
  template <typename Body>
  rt::Status inFirst(const Session &session, Body body) const {
    if (!isFirst())
      return take(zero_rt_session_serve(session.get()));
    ZERO_RT_TRY(body());
    return isOneOfMany() ? take(zero_rt_session_end_service(session.get())) : rt::Status();
  }

private:
  rt::Status findJoined(const Options &options);
  void announce(const Options &options) const;
  rt::Status gather(const char *what, uint64_t own, std::vector<uint64_t> &all) const;

  int process = 0, count = 1, attempts = 0;
  int localProcess = -1; ///< among those of this machine; -1: not known
  std::string meeting;   ///< of --join; empty: the launcher's
  World world;
  double timeout = 0; ///< of the processes for each other, in seconds
  mutable std::chrono::steady_clock::time_point lastSign; ///< that this process is busy
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_JOB_H
