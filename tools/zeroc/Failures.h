//===- Failures.h - how zeroc ends early ------------------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_FAILURES_H
#define TOOLS_ZEROC_FAILURES_H

namespace zero {

/// Called first in main(): process::begin(), and the same for what LLVM finds wrong or handles
/// itself. A closed standard output does not end zeroc: what it is called for is a file.
void beginProcess();

/// Writes what is left of standard output. False, with an error, where that is not possible;
/// that nobody reads it is none.
bool finishOutput();

} // namespace zero

#endif // TOOLS_ZEROC_FAILURES_H
