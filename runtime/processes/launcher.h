//===- launcher.h - which process of a job this is --------------*- C++ -*-===//
//
// mpirun, srun, torchrun and zero-run tell each process that they start who it is by variables of
// its environment. An empty variable counts as one that is not set.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROCESSES_LAUNCHER_H
#define RUNTIME_PROCESSES_LAUNCHER_H

#include "runtime/support/status.h"

#include <functional>
#include <string>

namespace zero::rt {

/// What started this process. Mpich includes its relatives with the same variables, such as Intel
/// MPI; Torchrun includes what sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT like torchrun.
enum class Launcher { None, ZeroRun, Torchrun, OpenMpi, Mpich, Slurm };

/// "mpirun of Open MPI", for messages.
const char *nameOf(Launcher launcher);

/// The place of this process in its job.
struct LaunchInfo {
  Launcher launcher = Launcher::None;
  int process = 0, processes = 1;
  int localProcess = -1, localProcesses = -1; ///< among those of this machine; -1: not known
  /// Where process 0 listens: "unix:@NAME" on one machine, else "tcp:HOST:PORT". Empty: they meet
  /// through MPI.
  std::string meeting;
  /// The same for all processes of a job, and different for each job; may be empty.
  std::string job;
  /// What only processes of the job know (ZERO_JOB_SECRET); may be empty on one machine.
  std::string secret;
  /// How often the job was restarted. Processes of different nodes may have different numbers.
  int attempt = 0;
};

/// Returns the value of a variable, or nullptr. ::getenv is one.
using Environment = std::function<const char *(const char *name)>;

/// Finds out from variables which launcher started this process. A launcher may have started
/// another one, as in `srun torchrun`: then the inner one counts. Variables that contradict each
/// other are an error that names both, and so are incomplete ones and values that are no numbers.
///
/// - A lone RANK, or WORLD_SIZE without RANK, is not a launcher: other programs set these, too.
/// - A batch script of Slurm is not a launcher: it is one process, whatever SLURM_NTASKS says.
/// - A launcher of one process is a launcher.
Status detectLauncher(const Environment &environment, LaunchInfo &info);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_LAUNCHER_H
