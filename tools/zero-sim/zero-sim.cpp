//===- zero-sim.cpp - how long a compiled step would take -----------------===//
//
// Replays the commands of an executable on the description of a machine. Nothing of the
// executable is run, or mapped as code.
//
//===----------------------------------------------------------------------===//

#include "options.h"
#include "report.h"
#include "runtime/core/validate.h"
#include "tools/profiling/trace.h"
#include "zero/Machine/MachineFile.h"

#include <cstdio>

using namespace zero;
using namespace zero::rt;
using namespace zero::sim;

static Status simulate(const Options &options) {
  Executable executable;
  if (std::string error = readExecutable(options.model, executable); !error.empty())
    return Status(ZERO_RT_BAD_FILE, error);
  if (Status status = validate(executable); !status.ok())
    return fail(status.getCode(), "'%s': %s", escape(options.model).c_str(),
                status.getMessage().c_str());
  planning::Machine machine;
  if (!options.machine.empty())
    if (std::string error = loadMachine(options.machine, machine); !error.empty())
      return Status(ZERO_RT_BAD_FILE, error);
  const Replay replayed = replay(executable.program, machine, options.slowest);
  if (!options.trace.empty()) {
    OutputFile file;
    ZERO_RT_TRY(OutputFile::create(options.trace, file));
    ZERO_RT_TRY(run::writeTrace(replayed.commands, replayed.recordings(), file));
    ZERO_RT_TRY(file.commit());
  }
  const Subject subject{executable.program, machine, options.machine.empty()};
  std::fputs((options.json ? reportJson : reportText)(subject, replayed).c_str(), stdout);
  return {};
}

int main(int argc, char **argv) {
  Options options;
  Status status = parseOptions(argc, argv, options);
  if (status.ok() && options.help)
    std::fputs(helpText().c_str(), stdout);
  else if (status.ok() && options.version)
    std::printf("zero-sim %s\n", zero_rt_version());
  else if (status.ok())
    status = simulate(options);
  if (!status.ok())
    std::fprintf(stderr, "zero-sim: error: %s\n", status.getMessage().c_str());
  return status.ok() ? 0 : 1;
}
