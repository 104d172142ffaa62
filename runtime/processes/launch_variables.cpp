//===- launch_variables.cpp - variables that launchers set ----------------===//

#include "runtime/processes/launch_variables.h"

#include "runtime/support/checked.h"

namespace zero::rt {

/// The largest number of a step that srun has started. Slurm's batch, interactive and external
/// steps have larger numbers, which differ between its versions.
constexpr uint64_t kLastStep = 0xfffffff0;

const char *nameOf(Launcher launcher) {
  return launcher == Launcher::None ? "no launcher" : namesOf(launcher).name;
}

const LauncherNames &namesOf(Launcher launcher) {
  for (const LauncherNames *each : {&kTorchrun, &kOpenMpi, &kMpich, &kSlurm})
    if (each->launcher == launcher)
      return *each;
  return kZeroRun;
}

const char *LaunchVariables::get(const char *name) const {
  const char *value = name ? environment(name) : nullptr;
  return value && *value ? value : nullptr;
}

const char *LaunchVariables::slurmStep() const {
  const char *step = get("SLURM_STEP_ID");
  if (!step)
    step = get("SLURM_STEPID");
  uint64_t number;
  // Names of special steps, such as "batch", are no numbers.
  return step && parseInteger(step, number) && number <= kLastStep ? step : nullptr;
}

Status LaunchVariables::number(const char *name, int least, int &result) const {
  const char *value = get(name);
  if (!value)
    return {};
  int read;
  if (!parseInteger(value, read) || read < least)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "the variable %s: expected a number of %d or more, got '%s'", name, least,
                escape(std::string(value).substr(0, 100)).c_str());
  result = read;
  return {};
}

/// Reads the number of this process and of all processes, which belong together.
Status LaunchVariables::readPlace(const LauncherNames &of, LaunchInfo &info) const {
  const char *process = of.process, *processes = processesOf(of);
  for (const auto &[missing, present] : {std::pair(process, processes), {processes, process}})
    if (!has(missing))
      return fail(ZERO_RT_INVALID_ARGUMENT, "expected the variable %s beside %s: %s sets both",
                  missing, has(present) ? present : "TORCHELASTIC_RUN_ID", of.name);
  ZERO_RT_TRY(number(processes, 1, info.processes));
  ZERO_RT_TRY(number(process, 0, info.process));
  if (info.process >= info.processes)
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected %s to be less than %s, got %d and %d", process,
                processes, info.process, info.processes);
  return {};
}

Status LaunchVariables::read(const LauncherNames &of, LaunchInfo &info) const {
  info.launcher = of.launcher;
  ZERO_RT_TRY(readPlace(of, info));
  ZERO_RT_TRY(number(of.localProcess, 0, info.localProcess));
  ZERO_RT_TRY(number(of.localProcesses, 1, info.localProcesses));
  if (info.localProcesses >= 0 && info.localProcess >= info.localProcesses)
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected %s to be less than %s, got %d and %d",
                of.localProcess, of.localProcesses, info.localProcess, info.localProcesses);
  return number(of.attempt, 0, info.attempt);
}

Status LaunchVariables::contradiction(const char *name, const char *other) const {
  return fail(ZERO_RT_INVALID_ARGUMENT,
              "the variables %s=%s and %s=%s contradict each other: unset those of the launcher "
              "that did not start this process",
              name, get(name), other, get(other));
}

} // namespace zero::rt
