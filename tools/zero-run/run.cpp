//===- run.cpp - open and train a model -----------------------------------===//

#include "run.h"

#include "compile.h"
#include "restarts.h"
#include "spinning.h"
#include "tools/process/process.h"
#include "train.h"

#include <cstdio>

using namespace zero::rt;

namespace zero::run {

/// Loads the executable, or compiles the model. Processes meet once they can say which ranks they
/// have, but before the first one compiles.
static Status openModel(Options &options, Job &job, Executable &executable, bool &reported) {
  const bool compiles = options.needsCompiler();
  Status loaded = compiles ? Status() : load(options.model, executable);
  if (!job.isOneOfMany() && options.join.empty())
    ZERO_RT_TRY(loaded);
  ZERO_RT_TRY(job.open(options, executable ? infoOf(executable).ranks : 0));
  ZERO_RT_TRY(job.agree(loaded));
  return compiles ? compileAndLoad(options, job, executable, reported) : Status();
}

int failed(const Status &status) {
  std::fprintf(stderr, "zero-run: error: %s\n", status.getMessage().c_str());
  return process::interruption() ? process::interruptionCode() : 1;
}

/// Trains what was opened.
static Status runModel(Options &options, const Job &job, Executable &executable, char **arguments,
                       int &code) {
  if (process::interruption() && !job.isOneOfMany())
    return fail(ZERO_RT_ABORTED, "interrupted before the first step");
  if (options.session.threads_per_rank == 0)
    options.session.threads_per_rank = infoOf(executable).threads_per_rank;
  if (options.session.threads_per_rank > 1 && !job.isOneOfMany())
    limitSpinning(arguments);
  return train(options, job, executable, code);
}

int runJob(Options &options, char **arguments) {
  Executable executable;
  Job job; // ends after what it knows of
  if (Status status = job.find(options); !status.ok())
    return failed(status);
  if (options.printAutomatic) {
    const Status status = printAutomaticFlags(options, job);
    return status.ok() ? 0 : failed(status);
  }
  if (job.isOneOfMany())
    limitSpinning(arguments); // before the processes meet
  bool reported = false;
  int code = 0;
  Status status = openModel(options, job, executable, reported);
  if (status.ok() && job.attempt() > 0 && options.restarts.value_or(0) > 0)
    status = goOnFromSaved(options, job);
  if (status.ok())
    status = runModel(options, job, executable, arguments, code);
  if (status.ok())
    return code;
  code = reported ? 1 : failed(status); // at once: a launcher soon ends the others
  job.fail(status);
  if (job.isOneOfMany())
    removeLeft(options); // by processes that were killed
  return code;
}

} // namespace zero::run
