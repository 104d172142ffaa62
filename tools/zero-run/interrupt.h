//===- interrupt.h - Ctrl-C ends a run in order -----------------*- C++ -*-===//
//
// The first SIGINT or SIGTERM asks the run to end after the step in progress; the
// second ends the process at once. Signals that were ignored at the start stay so.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_ZERO_RUN_INTERRUPT_H
#define TOOLS_ZERO_RUN_INTERRUPT_H

#include <string>

namespace zero::run {

void catchInterrupts();

/// The signal that came, or 0.
int interruption();

/// What a shell calls that end: 130 for SIGINT, 143 for SIGTERM.
int interruptionCode();

/// A file or empty folder that must not survive a second signal.
void removeWhenKilled(const std::string &path);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_INTERRUPT_H
