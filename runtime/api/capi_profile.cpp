//===- capi_profile.cpp - zero_rt.h: profiles and calibration -------------===//

#include "runtime/api/capi.h"
#include "runtime/format/machine_file.h"
#include "runtime/load/command_info.h"
#include "runtime/measure/calibrate.h"
#include "runtime/measure/machine.h"
#include "runtime/support/thread.h"
#include "zero_rt/shapes.h"

#include <algorithm>

using namespace zero::rt;

/// The command of `index`, or null after subtracting the number of commands from it.
static const proto::Command *findCommand(const proto::Program &program, size_t &index) {
  for (const proto::Segment &segment : program.segments()) {
    if (index < size_t(segment.commands_size()))
      return &segment.commands(static_cast<int>(index));
    index -= size_t(segment.commands_size());
  }
  return nullptr;
}

zero_rt_status zero_rt_executable_command(const zero_rt_executable *executable, size_t index,
                                          zero_rt_command_info *info) {
  const LoadedProgram &loaded = *executable->program;
  size_t left = index;
  for (size_t shape = 0; shape < loaded.shapes(); ++shape)
    if (const proto::Command *command = findCommand(loaded.tablesOf(shape), left)) {
      *info = commandInfo(loaded.tables(), *command); // which has the kernels of all
      return {ZERO_RT_OK, nullptr};
    }
  return toC(fail(ZERO_RT_NOT_FOUND, "no command of index %zu", index));
}

zero_rt_status zero_rt_executable_shape(zero_rt_executable *executable, size_t index,
                                        zero_rt_shape_info *info) {
  const LoadedProgram &loaded = *executable->program;
  if (index >= loaded.shapes())
    return toC(fail(ZERO_RT_NOT_FOUND, "no shape of index %zu", index));
  const proto::Program &program = loaded.tablesOf(index);
  size_t first = 0;
  for (size_t shape = 0; shape < index; ++shape)
    first += countCommands(loaded.tablesOf(shape));
  executable->shapeName = shapeName(program);
  *info = {executable->shapeName.c_str(), first, countCommands(program)};
  return {ZERO_RT_OK, nullptr};
}

static Status checkPlanned(const proto::Program &program) {
  return program.machine().empty()
             ? Status(ZERO_RT_NOT_FOUND, "the executable has no estimated times of its commands")
             : Status();
}

zero_rt_status zero_rt_executable_plan(const zero_rt_executable *executable, zero_rt_plan *plan) {
  return guard([&]() -> Status {
    const proto::Program &program = executable->program->tables();
    ZERO_RT_TRY(checkPlanned(program));
    const Timeline timeline = layOut(program, plannedCosts(program), /*keepsEvents=*/false);
    *plan = {program.machine().c_str(), timeline.seconds, timeline.stalled, {}};
    std::copy(timeline.lanes.begin(), timeline.lanes.end(), plan->lanes);
    return {};
  });
}

zero_rt_status zero_rt_executable_timeline(zero_rt_executable *executable,
                                           zero_rt_recording *timeline) {
  return guard([&]() -> Status {
    const proto::Program &program = executable->program->tables();
    ZERO_RT_TRY(checkPlanned(program));
    Timeline &kept = executable->timeline;
    if (kept.events.empty())
      kept = layOut(program, plannedCosts(program), /*keepsEvents=*/true);
    executable->step = {0, 0, nanoseconds(kept.seconds), 0, kept.events[0].size()};
    *timeline = {&executable->step, 1, kept.events[0].data(), 1};
    return {};
  });
}

zero_rt_status zero_rt_session_record(zero_rt_session *session, uint64_t steps) {
  return guard([&] { return session->session->record(steps); });
}

zero_rt_status zero_rt_session_recording(const zero_rt_session *session, int rank,
                                         zero_rt_recording *recording) {
  return guard([&] { return session->session->recording(rank, *recording); });
}

zero_rt_status zero_rt_measure_machine(const zero_rt_executable *executable,
                                       const zero_rt_session_options *options,
                                       zero_rt_machine *machine) {
  return guard([&] {
    ZERO_RT_TRY(checkOptions(*options));
    TeamOptions team = teamOf(executable->program->tables(), *options);
    team.firstRank = 0; // those of this process, while the others do the same
    return measureMachine(team, *machine);
  });
}

void zero_rt_calibration_options_default(zero_rt_calibration_options *options) {
  *options = {0, 1, -1, nullptr};
}

zero_rt_status zero_rt_calibrate(const zero_rt_calibration_options *options, const char *path) {
  return guard([&] {
    if (options->ranks < 0 || options->ranks > 1024 || options->threads_per_rank < 1 ||
        options->threads_per_rank > 1024)
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "expected at most 1024 ranks and 1 to 1024 threads of each, got %d and %d",
                  options->ranks, options->threads_per_rank);
    const int cores = std::max(1, usableCores() / options->threads_per_rank);
    const TeamOptions team = TeamOptions::ofAll(options->ranks ? options->ranks : cores,
                                                options->threads_per_rank, options->pin);
    if (team.ranks * team.threadsPerRank > usableCores())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "%d ranks of %d threads on %d cores: threads would share cores, and the "
                  "measurement would not be that of ranks in parallel",
                  team.ranks, team.threadsPerRank, usableCores());
    OutputFile file;
    ZERO_RT_TRY(OutputFile::create(path, file)); // before the work
    proto::Machine machine;
    ZERO_RT_TRY(calibrate(team, options->disk_folder ? options->disk_folder : "", machine));
    return writeMachine(file, machine);
  });
}
