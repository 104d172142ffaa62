//===- process.h - start and end of a tool's process ------------*- C++ -*-===//
// What each of the tools does with descriptors, signals and failures that no caller handles.
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PROCESS_PROCESS_H
#define TOOLS_PROCESS_PROCESS_H

#include <initializer_list>
#include <string>
#include <sys/types.h>

namespace zero::process {

/// What SIGINT, SIGTERM, SIGHUP and SIGPIPE do. Those ignored at the start, as by nohup, stay so.
enum class Ending {
  AtOnce, ///< end the process; its temporaries go
  /// The first asks the run to end after the step in progress, the second ends the process as
  /// above. SIGPIPE, of standard output or error, only asks: each further line brings another.
  InOrder
};

/// Called first in main(). Opens closed standard streams on /dev/null: no file gets them.
/// - Signals end the process as `ending` says;
/// - a file that would grow beyond its limit (SIGXFSZ) is an error of its write;
/// - a truncated mapped file (SIGBUS) is an error that names it, and so is memory that a library
///   did not get and uses all the same (SIGSEGV);
/// - an exception that nobody handles, memory that there is not above all, is an error of
///   `tool`: exit code 1, no temporary is left, and what survives failures gets its name.
void begin(const char *tool, Ending ending);

/// Restores the signals that begin() ignores, after a library has installed its own handlers.
void restoreIgnored();

/// Returns in the first thread that calls it, a signal handler too, which must end the process.
void beginEnd();

/// Ends the process as an unhandled exception does. `parts` are one text. A handler may call it.
[[noreturn]] void endByError(std::initializer_list<const char *> parts);

/// The same where there is no memory: says which limits there may be.
[[noreturn]] void endForMemory();

std::string ownPath(); ///< of this program
/// Runs this program again in place of this process. Returns only if that fails.
void restart(char **arguments);

/// fork() for a child that runs another program: signals end it, which handlers would only note.
pid_t forkForProgram();

/// From now on no signal ends this process: it passes each on to its children, and ends with them.
void endWithChildren();

/// The signal that asked the run to end, or 0; how many came; and what a shell calls that end: 130
/// for SIGINT, 143 for SIGTERM.
int interruption();
int interruptions();
int interruptionCode();
} // namespace zero::process
#endif // TOOLS_PROCESS_PROCESS_H
