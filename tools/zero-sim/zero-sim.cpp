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
  if (status.ok() && !options.isDone)
    status = simulate(options);
  if (!status.ok())
    std::fprintf(stderr, "zero-sim: error: %s\n", status.getMessage().c_str());
  return status.ok() ? 0 : 1;
}
