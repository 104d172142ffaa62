//===- simulate.cpp - simulate and report a step --------------------------===//

#include "simulate.h"

#include "page.h"
#include "runtime/load/program.h"
#include "runtime/load/validate.h"
#include "tools/profiling/trace.h"
#include "zero/Machine/KernelProfile.h"
#include "zero/Machine/MachineFile.h"

#include <cstdio>

using namespace zero::rt;

namespace zero::sim {

/// A longer trace would take gigabytes.
static constexpr uint64_t kMaxCommands = 20'000'000;

static Status open(const std::string &path, Executable &executable) {
  if (std::string error = readExecutable(path, executable); !error.empty())
    return Status(ZERO_RT_BAD_FILE, error);
  Status status = validate(executable);
  const uint64_t commands = status.ok() ? commandsPerStep(executable.program) : 0;
  if (commands > kMaxCommands)
    status = fail(ZERO_RT_UNSUPPORTED, "a step of %llu commands",
                  static_cast<unsigned long long>(commands));
  return status.ok() ? status
                     : fail(status.getCode(), "'%s': %s", escape(path).c_str(),
                            status.getMessage().c_str());
}

/// Creates a file of the option `name`, which is none of the inputs.
static Status create(const Options &options, const char *name, const std::string &path,
                     OutputFile &file) {
  for (const std::string &input : {options.model, options.machine})
    if (isSameFile(path, input))
      return fail(ZERO_RT_INVALID_ARGUMENT, "%s would overwrite '%s'", name, escape(input).c_str());
  return OutputFile::create(path, file);
}

static Status writeTrace(const Options &options, const Replay &replayed) {
  OutputFile file;
  ZERO_RT_TRY(create(options, "the trace", options.trace, file));
  ZERO_RT_TRY(run::writeTrace(replayed.commands, {replayed.recordings()}, /*plan=*/nullptr, file));
  return file.commit();
}

static Status writePage(const Options &options, const Subject &subject, const Replay &replayed) {
  OutputFile file;
  ZERO_RT_TRY(create(options, "the page", options.html, file));
  ZERO_RT_TRY(file.write(reportPage(subject, replayed)));
  return file.commit();
}

Status simulate(const Options &options) {
  Executable executable;
  ZERO_RT_TRY(open(options.model, executable));
  if (options.slowest > 1 && executable.program.ranks() == 1)
    return Status(ZERO_RT_INVALID_ARGUMENT, "--slowest has no effect on a single rank");
  planning::Machine machine;
  const std::string name = options.machine.empty()
                               ? defaultMachine(executable.program.target() == rt::proto::CUDA)
                               : options.machine;
  if (std::string error = loadMachine(name, machine); !error.empty())
    return Status(ZERO_RT_BAD_FILE, error);
  if (!options.profile.empty())
    if (std::string error = readKernelProfile(options.profile, machine); !error.empty())
      return Status(ZERO_RT_BAD_FILE, "--profile: " + error);
  const Replay replayed = replay(executable.program, machine, options.slowest);
  if (!options.trace.empty())
    ZERO_RT_TRY(writeTrace(options, replayed));
  Subject subject{executable.program, machine, options.machine.empty(), {}};
  if (!options.whatIf.empty())
    ZERO_RT_TRY(
        findWhatIfs(executable.program, machine, options.slowest, options.whatIf, subject.whatIfs));
  if (options.sensitivity)
    subject.sensitivities = findSensitivities(executable.program, machine, options.slowest);
  if (!options.html.empty())
    ZERO_RT_TRY(writePage(options, subject, replayed));
  std::fputs((options.json ? reportJson : reportText)(subject, replayed).c_str(), stdout);
  return {};
}

} // namespace zero::sim
