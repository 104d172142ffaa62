//===- run.h - open and train a model ---------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_RUN_H
#define TOOLS_ZERO_RUN_RUN_H

#include "options.h"

namespace zero::run {

/// Prints an error. Returns the exit code.
int failed(const rt::Status &status);

/// Compiles if need be, and trains, with the other processes of the job, if there are any. Prints
/// the error. Returns the exit code.
int runJob(Options &options, char **arguments);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_RUN_H
