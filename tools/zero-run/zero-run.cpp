//===- zero-run.cpp - train a compiled model ------------------------------===//
//
// The command line of the runtime: options.h says what there is, train.h does it.
//
//===----------------------------------------------------------------------===//

#include "calibrate.h"
#include "compile.h"
#include "options.h"
#include "spinning.h"
#include "tools/process/process.h"
#include "train.h"

#include <cstdio>

using namespace zero;
using namespace zero::rt;
using namespace zero::run;

/// Compiles if need be, and trains. `reported`: zeroc has printed the error.
static Status runModel(Options &options, char **arguments, bool &reported, bool &interrupted) {
  Executable executable;
  if (options.session.threads_per_rank > 1)
    limitSpinning(arguments); // before all the work
  if (!options.calibration.empty())
    return calibrate(options);
  Status status = options.needsCompiler() ? compileAndLoad(options, executable, reported)
                                          : load(options.model, executable);
  if (process::interruption())
    return fail(ZERO_RT_ABORTED, "interrupted before the first step");
  ZERO_RT_TRY(status);
  if (options.session.threads_per_rank == 0)
    options.session.threads_per_rank = infoOf(executable).threads_per_rank;
  if (options.session.threads_per_rank > 1)
    limitSpinning(arguments);
  return train(options, executable, interrupted);
}

int main(int argc, char **argv) {
  process::begin("zero-run", process::Ending::InOrder);
  Options options;
  bool reported = false, interrupted = false;
  Status status = parseOptions(argc, argv, options);
  if (status.ok() && (options.help || options.helpAll)) {
    std::fputs((options.helpAll ? helpText() : commonHelpText()).c_str(), stdout);
    return 0;
  }
  if (status.ok() && options.version) {
    std::printf("zero-run %s\n", zero_rt_version());
    return 0;
  }
  if (status.ok())
    status = runModel(options, argv, reported, interrupted);
  if (status.ok())
    return interrupted ? process::interruptionCode() : 0;
  if (!reported || process::interruption())
    std::fprintf(stderr, "zero-run: error: %s\n", status.getMessage().c_str());
  return process::interruption() ? process::interruptionCode() : 1;
}
