//===- profiler.cpp - record some steps of a run --------------------------===//

#include "profiler.h"

#include "tools/profiling/profile_text.h"
#include "tools/profiling/trace.h"
#include "warnings.h"
#include "zero_rt/shapes.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>

using namespace zero::rt;

namespace zero::run {

static constexpr uint64_t kWarmUp = 2;
static constexpr uint64_t kRecorded = 20; ///< at most

Status Profiler::open(const Options &options, const Executable &executable) {
  profiling = options.profile;
  traces = !options.trace.empty();
  quiet = options.quiet;
  threads = options.session.threads_per_rank;
  if (!profiling && !traces)
    return {};
  if (profiling && infoOf(executable).device != std::string_view("cpu"))
    return fail(ZERO_RT_UNSUPPORTED, "--profile compares with the peak of CPU cores, and the "
                                     "executable is for a GPU; use --trace");
  ranks = infoOf(executable).ranks;
  commands.resize(infoOf(executable).commands);
  for (size_t i = 0; i < commands.size(); ++i)
    ZERO_RT_TRY(take(zero_rt_executable_command(executable.get(), i, &commands[i])));
  ZERO_RT_TRY(readShapes(executable));
  zero_rt_recording timeline;
  if (traces && take(zero_rt_executable_timeline(executable.get(), &timeline)).ok())
    plan = timeline;
  return profiling ? take(zero_rt_measure_machine(executable.get(), &options.session, &machine))
                   : Status();
}

Status Profiler::checkSteps(uint64_t steps) const {
  if ((!profiling && !traces) || steps > kWarmUp)
    return {};
  return fail(ZERO_RT_INVALID_ARGUMENT,
              "%s needs at least %llu steps, the first %llu of which warm up; this run has %llu",
              profiling ? "--profile" : "--trace", static_cast<unsigned long long>(kWarmUp + 1),
              static_cast<unsigned long long>(kWarmUp), static_cast<unsigned long long>(steps));
}

Status Profiler::beforeStep(const Session &session, uint64_t done, uint64_t all) const {
  if ((!profiling && !traces) || done != kWarmUp)
    return {};
  return take(zero_rt_session_record(session.get(), std::min(kRecorded, all - done)));
}

Status Profiler::readShapes(const Executable &executable) {
  zero_rt_shape_info info;
  for (size_t first = 0; first < commands.size(); first += info.commands) {
    ZERO_RT_TRY(take(zero_rt_executable_shape(executable.get(), shapes.size(), &info)));
    const bool isOnly = info.commands == commands.size();
    shapes.push_back({isOnly ? "" : info.name, first, first + info.commands, {}, {}});
  }
  return {};
}

/// Gives each shape the steps of one more rank that ran its commands.
void Profiler::addRecording(const zero_rt_recording &all) {
  for (ShapeSteps &shape : shapes) {
    std::vector<zero_rt_recorded_step> &steps = shape.steps.emplace_back();
    std::copy_if(all.steps, all.steps + all.step_count, std::back_inserter(steps),
                 [&](const zero_rt_recorded_step &step) {
                   const size_t command = step.events ? all.events[step.first_event].command : 0;
                   return command >= shape.firstCommand && command < shape.endCommand;
                 });
    shape.recordings.push_back({steps.data(), steps.size(), all.events, all.full});
  }
}

Status Profiler::finish(const Session &session, std::vector<Profile> &profiles) {
  for (int rank = 0; (profiling || traces) && rank < ranks; ++rank) {
    zero_rt_recording recording;
    ZERO_RT_TRY(take(zero_rt_session_recording(session.get(), rank, &recording)));
    recorded += recording.step_count;
    addRecording(recording);
  }
  for (const ShapeSteps &shape : shapes)
    if (profiling && shape.recordings.front().step_count > 0) {
      profiles.push_back(makeProfile(machine, commands, shape.recordings));
      profiles.back().shape = shape.name;
    }
  return {};
}

Status Profiler::writeTrace(OutputFile &file) const {
  if (!traces)
    return {};
  std::vector<std::vector<zero_rt_recording>> recordings;
  for (const ShapeSteps &shape : shapes)
    recordings.push_back(shape.recordings);
  return zero::run::writeTrace(commands, recordings, plan ? &*plan : nullptr, file);
}

void Profiler::print(const std::vector<Profile> &profiles) const {
  for (const Profile &profile : profiles)
    if (!quiet)
      std::fputs((profileTitle(profile, threads) + profileTables(profile)).c_str(), stdout);
  std::fflush(stdout);
  if ((profiling || traces) && recorded == 0)
    warn(format("no step was recorded for %s", profiling ? "--profile" : "--trace"));
}

} // namespace zero::run
