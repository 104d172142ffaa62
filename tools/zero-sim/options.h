//===- options.h - zero-sim's command line ----------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_OPTIONS_H
#define TOOLS_ZERO_SIM_OPTIONS_H

#include "runtime/support/status.h"

namespace zero::sim {

struct Options {
  std::string model;
  std::string machine;      ///< a preset or a file; empty: the default preset
  double slowest = 1;       ///< how many times longer the last rank computes
  std::string profile;      ///< a report with measured times of kernels; empty: none
  std::string whatIf;       ///< changes of the machine; empty: none
  bool sensitivity = false; ///< of the step to the figures of the machine
  std::string trace;        ///< a file; empty: none
  std::string html;         ///< a file; empty: none
  bool json = false;
  bool isDone = false; ///< a text such as the help is printed, and that is all
};

/// Reads the command line, and prints what --help and the like ask for.
rt::Status parseOptions(int argc, char **argv, Options &options);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_OPTIONS_H
