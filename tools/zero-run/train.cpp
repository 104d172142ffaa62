//===- train.cpp - the run itself -----------------------------------------===//

#include "train.h"

#include "outputs.h"
#include "progress.h"
#include "report.h"

#include <csignal>
#include <cstdio>

using namespace zero::rt;

namespace zero::run {

static volatile std::sig_atomic_t interrupted = 0;

/// Leaves the step in progress and the temporaries in order.
static void onInterrupt(int) { interrupted = 1; }

static Status bindFile(const Session &session, const std::string &input, const DataFile &file) {
  return take(zero_rt_session_bind_file(session.get(), input.c_str(), file.path.c_str(),
                                        file.member.empty() ? nullptr : file.member.c_str()));
}

/// Binds an archive to all inputs that it has members for; at least one.
static Status bindArchive(const Executable &executable, const Session &session, DataFile file) {
  size_t found = 0;
  for (size_t i = 0; i < infoOf(executable).inputs; ++i) {
    zero_rt_value_info info;
    ZERO_RT_TRY(take(zero_rt_executable_input(executable.get(), i, &info)));
    file.member = info.name;
    Status status = bindFile(session, info.name, file);
    if (!status.ok() && status.getCode() != ZERO_RT_NOT_FOUND)
      return status;
    found += status.ok();
  }
  return found ? Status()
               : fail(ZERO_RT_NOT_FOUND, "'%s' has no member named like an input",
                      escape(file.path).c_str());
}

static Status bindAll(const Options &options, const Executable &executable,
                      const Session &session) {
  for (const DataFile &file : options.data)
    ZERO_RT_TRY(file.input.empty() ? bindArchive(executable, session, file)
                                   : bindFile(session, file.input, file));
  while (const char *warning = zero_rt_session_next_warning(session.get()))
    std::fprintf(stderr, "zero-run: warning: %s\n", warning);
  if (options.learningRate)
    return take(zero_rt_session_set_learning_rate(session.get(), *options.learningRate));
  return {};
}

static Status runSteps(const Options &options, const Executable &executable, const Session &session,
                       Outputs &outputs, Progress &progress,
                       std::vector<zero_rt_step_result> &results) {
  for (uint64_t step = 0; step < options.steps; ++step) {
    bool keep = step == 0 && !options.gradients.empty();
    zero_rt_step_result result;
    ZERO_RT_TRY(
        take(zero_rt_session_step(session.get(), keep ? ZERO_RT_KEEP_GRADIENTS : 0, &result)));
    if (keep)
      ZERO_RT_TRY(outputs.writeGradients(executable, session));
    ZERO_RT_TRY(outputs.logStep(result));
    progress.step(result);
    results.push_back(result);
    if (interrupted)
      return fail(ZERO_RT_ABORTED, "interrupted after step %llu",
                  static_cast<unsigned long long>(step));
  }
  return {};
}

Status train(const Options &options, const Executable &executable) {
  Outputs outputs;
  Session session;
  std::vector<zero_rt_step_result> results;
  std::signal(SIGINT, onInterrupt);
  ZERO_RT_TRY(outputs.open(options, executable));
  Progress progress(executable, options.steps, options.quiet);
  if (!options.needsCompiler())
    progress.printPlan(); // otherwise zeroc has
  ZERO_RT_TRY(open(executable, options.session, session));
  ZERO_RT_TRY(bindAll(options, executable, session));
  ZERO_RT_TRY(runSteps(options, executable, session, outputs, progress, results));
  ZERO_RT_TRY(outputs.writeWeights(executable, session));
  ZERO_RT_TRY(outputs.writeOutputs(executable, session));
  ZERO_RT_TRY(outputs.writeReport(reportJson(executable, session, results)));
  ZERO_RT_TRY(outputs.commit());
  progress.finish(results);
  return {};
}

} // namespace zero::run
