//===- process.cpp - one process per rank ---------------------------------===//

#include "process.h"

#include "flags.h"

#include <cstdlib>

using namespace zero::rt;

namespace zero::run {

/// RANK, and the GPU that LOCAL_RANK counts, unless the command line says others.
static Status readVariables(Options &options) {
  if (options.session.rank < 0) {
    const char *rank = std::getenv("RANK");
    uint64_t number;
    if (!rank)
      return fail(ZERO_RT_INVALID_ARGUMENT, "--join needs --rank, or the variable RANK");
    if (Status status = parseCount(rank, number); !status.ok() || number > 1024)
      return fail(ZERO_RT_INVALID_ARGUMENT, "the variable RANK: expected a rank, got '%s'",
                  escape(rank).c_str());
    options.session.rank = int(number);
  }
  if (const char *local = std::getenv("LOCAL_RANK"); local && options.gpus.empty())
    options.gpus = local;
  return {};
}

/// What is put together of all ranks.
static Status refuse(const Options &options) {
  if (options.needsCompiler())
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--join takes an executable: compile the model with zeroc first");
  if (!options.saves.empty())
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--save needs all ranks in one process: use --save-state here, then --resume with "
                "as many --steps and --save without --join");
  const std::pair<bool, const char *> others[] = {{!options.gradients.empty(), "--dump-gradients"},
                                                  {!options.outputs.empty(), "--save-outputs"},
                                                  {!options.trace.empty(), "--trace"},
                                                  {options.profile, "--profile"},
                                                  {options.session.stall_rank >= 0, "--stall"}};
  for (const auto &[given, name] : others)
    if (given)
      return fail(ZERO_RT_INVALID_ARGUMENT, "%s needs all ranks in one process: leave out --join",
                  name);
  return {};
}

Status setUpProcess(Options &options) {
  if (options.join.empty())
    return options.session.rank < 0
               ? Status()
               : fail(ZERO_RT_INVALID_ARGUMENT,
                      "--rank needs --join: a file through which the ranks find each other");
  ZERO_RT_TRY(readVariables(options));
  ZERO_RT_TRY(refuse(options));
  if (options.session.rank > 0) {
    options.quiet = true;
    options.log.clear();
    options.report.clear();
  }
  return {};
}

} // namespace zero::run
