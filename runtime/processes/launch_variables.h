//===- launch_variables.h - variables that launchers set --------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_LAUNCH_VARIABLES_H
#define RUNTIME_PROCESSES_LAUNCH_VARIABLES_H

#include "runtime/processes/launcher.h"

namespace zero::rt {

/// The names of a launcher's variables; nullptr: it has none.
struct LauncherNames {
  Launcher launcher;
  const char *name;
  const char *process, *processes;
  const char *processesOrElse; ///< used where `processes` is not set
  const char *localProcess, *localProcesses;
  const char *attempt;
};

inline constexpr LauncherNames kZeroRun = {
    Launcher::ZeroRun, "zero-run --processes", "ZERO_PROCESS", "ZERO_PROCESSES", nullptr,
    "ZERO_PROCESS", // all on one machine
    "ZERO_PROCESSES",  "ZERO_ATTEMPT"};
inline constexpr LauncherNames kTorchrun = {Launcher::Torchrun,
                                            "torchrun",
                                            "RANK",
                                            "WORLD_SIZE",
                                            nullptr,
                                            "LOCAL_RANK",
                                            "LOCAL_WORLD_SIZE",
                                            "TORCHELASTIC_RESTART_COUNT"};
inline constexpr LauncherNames kOpenMpi = {Launcher::OpenMpi,
                                           "mpirun of Open MPI",
                                           "OMPI_COMM_WORLD_RANK",
                                           "OMPI_COMM_WORLD_SIZE",
                                           nullptr,
                                           "OMPI_COMM_WORLD_LOCAL_RANK",
                                           "OMPI_COMM_WORLD_LOCAL_SIZE",
                                           nullptr};
inline constexpr LauncherNames kMpich = {
    Launcher::Mpich, "mpirun of MPICH", "PMI_RANK",        "PMI_SIZE",
    nullptr,         "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr};
// With --preserve-env, srun leaves SLURM_NTASKS as it was in the allocation.
inline constexpr LauncherNames kSlurm = {
    Launcher::Slurm, "srun",          "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
    "SLURM_NTASKS",  "SLURM_LOCALID", nullptr,        "SLURM_RESTART_COUNT"};

/// The names of the variables of `launcher`, which is not None.
const LauncherNames &namesOf(Launcher launcher);

/// Reads variables. Empty ones count as not set.
class LaunchVariables {
public:
  explicit LaunchVariables(const Environment &environment) : environment(environment) {}

  /// The value, or nullptr.
  const char *get(const char *name) const;
  bool has(const char *name) const { return get(name) != nullptr; }
  bool hasAny(const LauncherNames &of) const {
    return has(of.process) || has(of.processes) || has(of.processesOrElse);
  }
  /// The variable that has the number of processes.
  const char *processesOf(const LauncherNames &of) const {
    return has(of.processes) || !of.processesOrElse ? of.processes : of.processesOrElse;
  }
  /// The step of Slurm, or nullptr outside of one.
  const char *slurmStep() const;

  /// Reads a number of at least `least`, if the variable is set; else leaves `result` as it is.
  Status number(const char *name, int least, int &result) const;
  /// Reads everything but where processes meet.
  Status read(const LauncherNames &of, LaunchInfo &info) const;
  Status contradiction(const char *name, const char *other) const;

private:
  Status readPlace(const LauncherNames &of, LaunchInfo &info) const;
  const Environment &environment;
};

/// Sets where processes meet, and which job they are.
Status readMeeting(const LaunchVariables &variables, LaunchInfo &info);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_LAUNCH_VARIABLES_H
