//===- zero-sim.cpp - estimate the time of a step -------------------------===//
//
// Replays the commands of an executable on the description of a machine. Nothing of the
// executable is run, or mapped as code.
//
//===----------------------------------------------------------------------===//

#include "simulate.h"
#include "tools/process/process.h"

#include <cstdio>

using namespace zero::rt;
using namespace zero::sim;

int main(int argc, char **argv) {
  zero::process::begin("zero-sim", zero::process::Ending::AtOnce);
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
