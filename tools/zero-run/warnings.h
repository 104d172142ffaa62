//===- warnings.h - warnings of a run ---------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_WARNINGS_H
#define TOOLS_ZERO_RUN_WARNINGS_H

#include <string>
#include <vector>

namespace zero::run {

struct Warning {
  double time; ///< seconds since 1970
  std::string text;
};

/// Prints a warning on standard error, and remembers it for the page of the run. For the main
/// thread.
void warn(const std::string &text);
/// The last warnings, from the oldest on.
const std::vector<Warning> &lastWarnings();

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_WARNINGS_H
