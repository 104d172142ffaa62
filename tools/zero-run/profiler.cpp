//===- profiler.cpp - record some steps of a run --------------------------===//

#include "profiler.h"

#include "tools/profiling/profile_text.h"
#include "tools/profiling/trace.h"
#include "warnings.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

using namespace zero::rt;

namespace zero::run {

static constexpr uint64_t kWarmUp = 2;
static constexpr uint64_t kRecorded = 20; ///< at most

Status Profiler::open(const Options &options, const Executable &executable) {
  profiles = options.profile;
  traces = !options.trace.empty();
  quiet = options.quiet;
  threads = options.session.threads_per_rank;
  if (!profiles && !traces)
    return {};
  if (profiles && infoOf(executable).device != std::string_view("cpu"))
    return fail(ZERO_RT_UNSUPPORTED, "--profile compares with the peak of CPU cores, and the "
                                     "executable is for a GPU; use --trace");
  recordings.resize(size_t(infoOf(executable).ranks));
  commands.resize(infoOf(executable).commands);
  for (size_t i = 0; i < commands.size(); ++i)
    ZERO_RT_TRY(take(zero_rt_executable_command(executable.get(), i, &commands[i])));
  zero_rt_recording timeline;
  if (traces && take(zero_rt_executable_timeline(executable.get(), &timeline)).ok())
    plan = timeline;
  return profiles ? take(zero_rt_measure_machine(executable.get(), &options.session, &machine))
                  : Status();
}

Status Profiler::checkSteps(uint64_t steps) const {
  if ((!profiles && !traces) || steps > kWarmUp)
    return {};
  return fail(ZERO_RT_INVALID_ARGUMENT,
              "%s needs at least %llu steps, the first %llu of which warm up; this run has %llu",
              profiles ? "--profile" : "--trace", static_cast<unsigned long long>(kWarmUp + 1),
              static_cast<unsigned long long>(kWarmUp), static_cast<unsigned long long>(steps));
}

Status Profiler::beforeStep(const Session &session, uint64_t done, uint64_t all) const {
  if ((!profiles && !traces) || done != kWarmUp)
    return {};
  return take(zero_rt_session_record(session.get(), std::min(kRecorded, all - done)));
}

Status Profiler::finish(const Session &session, std::optional<Profile> &profile) {
  for (size_t rank = 0; rank < recordings.size(); ++rank)
    ZERO_RT_TRY(take(zero_rt_session_recording(session.get(), int(rank), &recordings[rank])));
  if (profiles && recordings.front().step_count > 0)
    profile = makeProfile(machine, commands, recordings);
  return {};
}

Status Profiler::writeTrace(OutputFile &file) const {
  return traces ? zero::run::writeTrace(commands, recordings, plan ? &*plan : nullptr, file)
                : Status();
}

void Profiler::print(const std::optional<Profile> &profile) const {
  if (profile && !quiet)
    std::fputs((profileTitle(*profile, threads) + profileTables(*profile)).c_str(), stdout);
  std::fflush(stdout);
  if ((profiles || traces) && recordings.front().step_count == 0)
    warn(format("no step was recorded for %s", profiles ? "--profile" : "--trace"));
}

} // namespace zero::run
