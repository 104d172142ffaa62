//===- mpi.h - MPI in this process ------------------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_MPI_MPI_H
#define RUNTIME_COMM_MPI_MPI_H

#include "runtime/comm/mpi/library.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace zero::rt {

struct MpiOptions {
  /// For each collective step, including MPI_Init and MPI_Finalize.
  double timeoutSeconds = 120;
  /// That the launcher has started, to detect an MPI of another launcher; 0: not known.
  int processes = 0;
  Environment environment = [](const char *name) { return std::getenv(name); };
};

/// MPI, initialized. A process can have it once: after the end of this object MPI cannot be
/// initialized again.
class Mpi {
public:
  /// Collective. Loads MPI and initializes it, if nobody else did. MPI cannot be interrupted: if
  /// the other processes do not come, the error is on time, but a thread waits for them as long as
  /// this process exists.
  static Status open(const MpiOptions &options, std::shared_ptr<Mpi> &mpi);
  /// Finalizes MPI, which is collective, unless abandon() was called.
  ~Mpi();

  int process() const { return world.process; }
  int processes() const { return world.processes; }
  const char *library() const { return world.library; } ///< "Open MPI v4.1.4"
  int largestTag() const { return world.largestTag; }

  /// Gives every process `own` of all, by process. Collective, by one thread. `what` names it in
  /// errors. For small data: all processes exchange messages with all others.
  Status allGather(const char *what, std::string_view own, std::vector<std::string> &all);

  /// MPI is not finalized: other processes may be gone, or messages under way.
  void abandon() { abandoned = true, rest(); }

  /// No message is under way any more, or matters: MPI makes no progress by itself from now on. All
  /// processes have come here before one of them finalizes MPI, since MPICH may not return from
  /// MPI_Finalize while another process makes progress.
  void rest();

  /// For a call of `functions()`: excludes other threads if MPI needs it.
  std::unique_lock<std::mutex> guard();
  const ZeroMpiPlugin &functions() const { return *plugin; }
  /// The error of a function that returned `code`.
  Status check(int code, const char *call) const;

private:
  struct Thread;
  Mpi() = default;
  Status start(const MpiOptions &options);
  Status checkWorld(const MpiOptions &options) const;
  Status gather(const char *what, const void *own, uint64_t ownBytes,
                const std::vector<std::pair<void *, uint64_t>> &all);

  const ZeroMpiPlugin *plugin = nullptr;
  ZeroMpiWorld world = {};
  double timeoutSeconds = 0;
  std::atomic<bool> abandoned{false};
  std::shared_ptr<Thread> thread;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_MPI_MPI_H
