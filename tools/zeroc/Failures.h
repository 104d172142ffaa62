//===- Failures.h - failures of zeroc ---------------------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_FAILURES_H
#define TOOLS_ZEROC_FAILURES_H

namespace zero {

/// Called first in main(): process::begin(), and the same for what LLVM finds wrong or handles
/// itself. A closed standard output does not end zeroc: what it is called for is a file.
void beginProcess();

/// Flushes standard output. Returns false, after an error, if that is not possible; a closed reader
/// is not an error.
bool finishOutput();

} // namespace zero

#endif // TOOLS_ZEROC_FAILURES_H
