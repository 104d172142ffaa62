//===- launch.h - start the processes of a run ------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_LAUNCH_H
#define TOOLS_ZERO_RUN_LAUNCH_H

#include "options.h"

namespace zero::run {

/// Whether this process is to start others, for --processes=N, rather than to train.
bool isLauncher(const Options &options);

/// Starts the processes with the same arguments, passes signals on to them, and waits for their
/// end. Starts them again after a failure, as --restarts says. `code`: the exit code of the first
/// one that failed in the last attempt, else 0; it has printed its error.
rt::Status launch(const Options &options, char **arguments, int &code);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_LAUNCH_H
