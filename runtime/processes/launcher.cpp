//===- launcher.cpp - which process of a job this is ----------------------===//

#include "runtime/processes/launcher.h"

#include "runtime/processes/launch_variables.h"

#include <algorithm>
#include <span>
#include <vector>

namespace zero::rt {

namespace {

class Detector {
public:
  explicit Detector(const Environment &environment) : variables(environment) {}
  Status detect(LaunchInfo &info) const;

private:
  bool isElastic() const { return variables.has("TORCHELASTIC_RUN_ID"); }
  bool isMpich() const;
  bool isTorchrun() const;
  Status collect(std::vector<LaunchInfo> &found) const;
  Status dropOuter(std::vector<LaunchInfo> &found) const;
  Status checkSame(const LaunchInfo &chosen, const LauncherNames &other) const;

  LaunchVariables variables;
};

/// srun --mpi=pmi2 sets PMI_RANK, too, but not the variables of local processes. mpirun of MPICH
/// may itself use srun to reach other nodes.
bool Detector::isMpich() const {
  return variables.hasAny(kMpich) && (variables.has(kMpich.localProcess) || !variables.slurmStep());
}

/// RANK alone belongs to --join; WORLD_SIZE and MASTER_ADDR are often exported by batch scripts
/// whose processes get their rank from Slurm.
bool Detector::isTorchrun() const {
  return isElastic() ||
         (variables.has("RANK") && (variables.has("WORLD_SIZE") || variables.has("MASTER_ADDR")));
}

/// Reads what all launchers have set, the most specific one first: variables of torchrun that are
/// written by hand, to be used by PyTorch, come last.
Status Detector::collect(std::vector<LaunchInfo> &found) const {
  const bool mpi = variables.hasAny(kOpenMpi) || isMpich();
  const std::pair<const LauncherNames *, bool> all[] = {
      {&kTorchrun, isTorchrun() && isElastic()},
      {&kOpenMpi, variables.hasAny(kOpenMpi)},
      {&kMpich, isMpich()},
      // mpirun starts its daemons by srun: then processes have the numbers of their daemon.
      {&kSlurm, variables.slurmStep() && !mpi},
      {&kTorchrun, isTorchrun() && !isElastic()},
  };
  for (const auto &[names, isSet] : all)
    if (isSet)
      ZERO_RT_TRY(variables.read(*names, found.emplace_back()));
  return {};
}

/// Drops launchers that have started another launcher: on each node one process, which is torchrun,
/// or a single process.
Status Detector::dropOuter(std::vector<LaunchInfo> &found) const {
  int nodes = -1;
  if (found.front().launcher == Launcher::Torchrun)
    ZERO_RT_TRY(variables.number("GROUP_WORLD_SIZE", 1, nodes));
  std::erase_if(found, [&](const LaunchInfo &each) {
    return each.launcher != Launcher::Torchrun && each.processes == nodes;
  });
  const auto isLarge = [](const LaunchInfo &each) { return each.processes > 1; };
  if (std::any_of(found.begin(), found.end(), isLarge))
    std::erase_if(found, [&](const LaunchInfo &each) { return !isLarge(each); });
  return {};
}

/// Checks that the variables of another launcher, as far as they are set, say the same.
Status Detector::checkSame(const LaunchInfo &chosen, const LauncherNames &other) const {
  const LauncherNames &own = namesOf(chosen.launcher);
  LaunchInfo found = chosen;
  ZERO_RT_TRY(variables.number(other.process, 0, found.process));
  ZERO_RT_TRY(variables.number(variables.processesOf(other), 1, found.processes));
  if (found.process != chosen.process)
    return variables.contradiction(other.process, own.process);
  if (found.processes != chosen.processes)
    return variables.contradiction(variables.processesOf(other), variables.processesOf(own));
  return {};
}

Status Detector::detect(LaunchInfo &info) const {
  if (variables.hasAny(kZeroRun)) {
    ZERO_RT_TRY(variables.read(kZeroRun, info));
    return readMeeting(variables, info);
  }
  std::vector<LaunchInfo> found;
  ZERO_RT_TRY(collect(found));
  if (found.empty())
    return {};
  ZERO_RT_TRY(dropOuter(found));
  info = found.front();
  for (const LaunchInfo &other : std::span(found).subspan(1))
    ZERO_RT_TRY(checkSame(info, namesOf(other.launcher)));
  if (info.launcher != Launcher::Torchrun && info.processes > 1 && !isTorchrun())
    ZERO_RT_TRY(checkSame(info, kTorchrun));
  return readMeeting(variables, info);
}

} // namespace

Status detectLauncher(const Environment &environment, LaunchInfo &info) {
  LaunchInfo found;
  ZERO_RT_TRY(Detector(environment).detect(found));
  info = found;
  return {};
}

} // namespace zero::rt
