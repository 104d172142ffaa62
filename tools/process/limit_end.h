//===- limit_end.h - a limit for the end of a process -----------*- C++ -*-===//

#ifndef TOOLS_PROCESS_LIMIT_END_H
#define TOOLS_PROCESS_LIMIT_END_H

#include <string>

namespace zero::process {

/// This process is about to end. If it still exists after `seconds`, because it was stopped or a
/// library hangs, a child prints the line `error` and kills it: launchers wait for each process.
void limitEnd(double seconds, const std::string &error);

} // namespace zero::process

#endif // TOOLS_PROCESS_LIMIT_END_H
